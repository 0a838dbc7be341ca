// A text that lives in the address bar, so that a filtered view can be shared and survives a reload.
import { useSearchParams } from 'react-router'

export function useUrlText(key: string): [string, (value: string) => void] {
  const [search, setSearch] = useSearchParams()
  function set(value: string) {
    // Read from the bar itself: two filters cleared at once must see each other's change.
    const after = new URLSearchParams(window.location.search)
    if (value) after.set(key, value)
    else after.delete(key)
    // Each letter typed must not become a step of the Back button.
    setSearch(after, { replace: true })
  }
  return [search.get(key) ?? '', set]
}
