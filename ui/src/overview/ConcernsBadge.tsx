// How much needs somebody, for the navigation: red when something stands still, and without any it is not there.
import { useConcerns } from './api'

export function ConcernsBadge() {
  const { data = [] } = useConcerns()
  if (data.length === 0) return null
  const isBad = data.some(({ weight }) => weight === 'bad')
  const words = `${data.length} ${data.length === 1 ? 'needs' : 'need'} attention`
  return (
    <span
      title={words}
      className={`ml-auto inline-flex h-4.5 min-w-4.5 items-center justify-center rounded-full px-1.5 text-2xs font-semibold ${isBad ? 'bg-bad-wash text-bad' : 'bg-warn-wash text-warn'}`}
    >
      <span aria-hidden>{data.length}</span>
      <span className="sr-only">{words}</span>
    </span>
  )
}
