// What a comparison of both places found: the gate, counts, what differs by its kind, and samples side by side.
import { CircleCheck, CircleX } from 'lucide-react'
import { Link } from 'react-router'
import { pathOf } from '@/jobs/signs'
import { Badge } from '@/kit/Badge'
import { Disclosure } from '@/kit/Field'
import { Json } from '@/kit/Json'
import { Moment } from '@/kit/Moment'
import { ParityOverTime } from './ParityOverTime'
import { isProven, KINDS } from './phases'
import type { Difference, Parity } from './types'

type Props = { report: Parity; atLeast: number; isWhole: boolean; at: string }

/** Rounded down: what is not all of it must not read as all of it. */
function shareText(share: number | null): string {
  return share === null ? '–' : `${Math.floor(share * 10_000) / 100} %`
}

export function ParityReport({ report, atLeast, isWhole, at }: Props) {
  const { compared, equal, late, documents, checksums } = report
  const isSame = checksums.target === checksums.shadow
  const numbers: [string, string][] = [
    ['Same in both', shareText(report.share)],
    ['Chunks compared', compared.toLocaleString('en')],
    ['Equal', equal.toLocaleString('en')],
    ['Not settled yet', late.toLocaleString('en')],
    ['Documents in the target', (documents.target ?? 0).toLocaleString('en')],
    ['Documents in the shadow', (documents.shadow ?? 0).toLocaleString('en')],
  ]
  return (
    <section aria-label="Parity" className="flex flex-col gap-4 border-t border-line px-4 py-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Gate report={report} atLeast={atLeast} isWhole={isWhole} />
        <p className="text-xs text-soft">
          compared <Moment at={at} />
        </p>
      </div>
      <dl className="grid grid-cols-2 gap-x-4 gap-y-3 sm:grid-cols-3">
        {numbers.map(([term, number]) => (
          <div key={term}>
            <dt className="text-xs text-soft">{term}</dt>
            <dd className="text-lg font-semibold">{number}</dd>
          </div>
        ))}
      </dl>
      <p className="text-xs text-soft">
        The checksums over all documents, whatever their order, are {isSame ? 'the same' : 'not the same'}:{' '}
        <span className="font-mono">{checksums.target?.slice(0, 12)}</span>
        {!isSame && (
          <>
            {' '}
            and <span className="font-mono">{checksums.shadow?.slice(0, 12)}</span>
          </>
        )}
        .
      </p>
      <ParityOverTime report={report} />
      <Differences report={report} />
    </section>
  )
}

function Gate({ report, atLeast, isWhole }: Omit<Props, 'at'>) {
  if (!isWhole) return <Badge>Only a part was compared; the gate goes by all of it</Badge>
  if (isProven(report, atLeast))
    return (
      <Badge tone="good" icon={CircleCheck}>
        Gate open: everything is the same
      </Badge>
    )
  const why =
    report.equal < report.compared
      ? `${(report.compared - report.equal).toLocaleString('en')} differ`
      : `${report.compared} of ${atLeast} compared`
  return (
    <Badge tone="bad" icon={CircleX}>
      Gate closed: {why}
    </Badge>
  )
}

function Differences({ report }: { report: Parity }) {
  const kinds = Object.entries(report.differences)
  if (kinds.length === 0) return null
  return (
    <div className="flex flex-col gap-2">
      <h3 className="text-xs font-medium">What differs</h3>
      <ul aria-label="Kinds of differences" className="flex flex-wrap gap-2">
        {kinds.map(([kind, count]) => (
          <li key={kind}>
            <Badge tone="warn">
              {KINDS[kind] ?? kind}: {count.toLocaleString('en')}
            </Badge>
          </li>
        ))}
      </ul>
      {report.samples.map((sample, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a report never changes, and a chunk may be named twice
        <Sample key={index} sample={sample} report={report} />
      ))}
    </div>
  )
}

function Sample({ sample, report }: { sample: Difference; report: Parity }) {
  const name = `${KINDS[sample.kind] ?? sample.kind}: ${sample.job_id}, ${JSON.stringify(sample.cursor)}`
  return (
    <Disclosure summary={name}>
      <div className="flex flex-col gap-3">
        <p className="text-xs text-soft [overflow-wrap:anywhere]">
          <Link to={pathOf(sample.job_id)} className="text-accent hover:underline">
            {sample.job_id}
          </Link>
          , cursor <code className="font-mono">{JSON.stringify(sample.cursor)}</code>
          {sample.paths.length > 0 && (
            <>
              , differs at <code className="font-mono">{sample.paths.join(', ')}</code>
            </>
          )}
        </p>
        <div className="grid gap-3 md:grid-cols-2">
          <Side title={`Target, ${report.target}`} document={sample.target} />
          <Side title={`Shadow, ${report.shadow}`} document={sample.shadow} />
        </div>
      </div>
    </Disclosure>
  )
}

/** The first document that differs; a long one comes as the beginning of its text. */
function Side({ title, document }: { title: string; document: unknown }) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <h4 className="text-xs font-medium text-soft">{title}</h4>
      {document === null ? (
        <p className="rounded-md border border-dashed border-line px-3 py-2 text-soft">Not there.</p>
      ) : (
        <Json value={document} label={title} className="max-h-64" />
      )}
    </div>
  )
}
