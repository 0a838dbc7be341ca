// Choosing a site: out of all there are, or by its slug where the token may not see them.
import { Select, TextField } from '@/kit/Field'
import { useSlugs } from './api'

type Props = { value: string; onChange: (slug: string) => void; fault?: string }

export function SiteField({ value, onChange, fault }: Props) {
  const { data, error } = useSlugs()
  if (error || data?.isWhole === false) {
    return (
      <TextField label="Site" value={value} onChange={onChange} placeholder="board" fault={fault} isMono />
    )
  }
  const slugs = data?.slugs ?? []
  const options = { '': 'Choose a site', ...Object.fromEntries(slugs.map((slug) => [slug, slug])) }
  return (
    <Select
      label="Site"
      value={value}
      onChange={onChange}
      options={options as Record<string, string>}
      fault={fault}
    />
  )
}

type FilterProps = { value: string; onChange: (slug: string) => void; known?: string[] }

/** The same as a filter; `known` are sites one sees anyway. */
export function SiteFilter({ value, onChange, known = [] }: FilterProps) {
  const { data } = useSlugs()
  const slugs = [...new Set([...(data?.slugs ?? []), ...known, ...(value ? [value] : [])])].sort()
  const options = { '': 'Every site', ...Object.fromEntries(slugs.map((slug) => [slug, slug])) }
  return (
    <Select
      label="Site"
      isLabelHidden
      className="min-w-32 flex-1 sm:flex-none"
      value={value}
      onChange={onChange}
      options={options as Record<string, string>}
    />
  )
}
