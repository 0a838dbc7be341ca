// An entity, a record and how it was linked, as the small signs they are everywhere.
import { AtSign, Fingerprint, Link2, type LucideIcon, ScanFace, Sparkle, UserCheck } from 'lucide-react'
import { Link } from 'react-router'
import { Badge, type Tone } from '@/kit/Badge'
import type { SourceRecord } from './types'
import { inBits } from './waterfall'

export function pathOf(id: string): string {
  return `/entities/${id}`
}

/** Enough of an id to tell it from others. */
export function short(id: string): string {
  return `…${id.slice(-8)}`
}

const STEPS: Record<string, { label: string; tone: Tone; icon: LucideIcon; means: string }> = {
  explicit_id: { label: 'By id', tone: 'good', icon: Fingerprint, means: 'They share an external id.' },
  external_url: { label: 'By URL', tone: 'good', icon: Link2, means: 'They share an address.' },
  name_metadata: { label: 'By name', tone: 'accent', icon: AtSign, means: 'Name and attributes agree.' },
  face: { label: 'By face', tone: 'accent', icon: ScanFace, means: 'Faces agree, and something else does.' },
  human: { label: 'By a person', tone: 'warn', icon: UserCheck, means: 'Somebody said so.' },
  created: { label: 'Created', tone: 'neutral', icon: Sparkle, means: 'The entity was made for it.' },
}

export function StepBadge({ step }: { step: string }) {
  // Records carry `linked_explicit_id` where evidence says `explicit_id`.
  const known = STEPS[step.replace(/^linked_/, '')]
  return (
    <Badge tone={known?.tone ?? 'neutral'} icon={known?.icon} title={known?.means}>
      {known?.label ?? step.replaceAll('_', ' ')}
    </Badge>
  )
}

export function Score({ bits, join }: { bits: number | null; join: number }) {
  if (bits === null) return <span className="text-soft">–</span>
  return <span className={`whitespace-nowrap ${bits >= join ? 'text-good' : ''}`}>{inBits(bits)}</span>
}

export function EntityLink({ id, name }: { id: string; name?: string }) {
  return (
    <Link
      to={pathOf(id)}
      title={id}
      className={`text-accent-strong hover:underline ${name ? 'font-medium' : 'font-mono text-xs/5 whitespace-nowrap'}`}
    >
      {name ?? short(id)}
    </Link>
  )
}

/** Which record this is: where it comes from and what it is called there. */
export function RecordName({ record }: { record: Pick<SourceRecord, 'source' | 'source_id' | 'name'> }) {
  return (
    <span className="min-w-0 [overflow-wrap:anywhere]">
      <span className="font-medium">{record.name}</span>{' '}
      <span className="text-xs text-soft">
        {record.source} <span className="font-mono">{record.source_id}</span>
      </span>
    </span>
  )
}

export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : `${noun}s`}`
}
