// How many pairs wait for somebody's word, for the navigation; without any it is not there.
import { useObjection } from '@/api/permissions'
import { useStats } from '@/entities/api'

export function ReviewsBadge() {
  const { data } = useStats(useObjection('entities.view') === null)
  if (!data?.open_reviews) return null
  return (
    <span className="ml-auto rounded-full bg-warn-wash px-1.5 text-2xs font-medium text-warn">
      {data.open_reviews.toLocaleString('en')}
      <span className="sr-only"> to review</span>
    </span>
  )
}
