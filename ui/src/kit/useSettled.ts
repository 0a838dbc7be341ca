// A text once its author has paused, so that the server is not asked at every letter.
import { useEffect, useState } from 'react'

const PAUSE_MS = 300

export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
