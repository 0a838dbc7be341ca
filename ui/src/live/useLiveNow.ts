// What time it is, as long as what is shown is fresh; clocks on old news would go on about nothing.
import { useSecond } from '@/kit/Countdown'
import { heardAt, isFresh, useFreshness } from './store'

export function useLiveNow(): number {
  const now = useSecond()
  const { mode } = useFreshness()
  return isFresh(mode) || mode === 'connecting' ? now : heardAt()
}
