// The name of an item, which leads to its job where there is one.
import { Link } from 'react-router'
import { pathOf as jobPath } from '@/jobs/signs'
import type { Item } from './types'

export function ItemLink({ item }: { item: Pick<Item, 'external_id' | 'job_id'> }) {
  if (item.job_id === null) return <span className="font-mono text-xs/5">{item.external_id}</span>
  return (
    <Link to={jobPath(item.job_id)} className="font-mono text-xs/5 text-accent-strong hover:underline">
      {item.external_id}
    </Link>
  )
}
