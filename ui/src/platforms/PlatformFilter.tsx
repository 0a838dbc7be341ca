// Narrows a list down to a platform, out of all there are.
import { Select } from '@/kit/Field'
import { usePlatforms } from './api'

export function PlatformFilter({ value, onChange }: { value: string; onChange: (slug: string) => void }) {
  const { data } = usePlatforms()
  const slugs = [
    ...new Set([...(data ?? []).map(({ platform }) => platform), ...(value ? [value] : [])]),
  ].sort()
  const options = { '': 'Every platform', ...Object.fromEntries(slugs.map((slug) => [slug, slug])) }
  return (
    <Select
      label="Platform"
      isLabelHidden
      className="min-w-32 flex-1 sm:flex-none"
      value={value}
      onChange={onChange}
      options={options as Record<string, string>}
    />
  )
}
