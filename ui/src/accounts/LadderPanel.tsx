// The cool-down ladder: how long an account rests after each failure in a row, and where on it this one is.
import { Panel } from '@/kit/Panel'
import { LADDER_S, rest, TOP } from './ladder'

export function LadderPanel({ rung }: { rung: number }) {
  return (
    <Panel title="Cool-down ladder" lead={words(rung)}>
      <ol aria-label="Rungs" className="flex items-end gap-1 px-4 pt-4 pb-3">
        {LADDER_S.map((seconds, index) => (
          <li
            key={seconds}
            aria-current={index === rung ? 'step' : undefined}
            className="flex min-w-0 flex-1 flex-col items-center gap-1"
          >
            <span className="sr-only">Rung {index}:</span>
            <span
              aria-hidden
              style={{ height: `${6 + index * 5}px` }}
              className={`w-full rounded-sm ${index === 0 ? 'bg-good' : 'bg-warn'} ${index <= rung && (index > 0 || rung === 0) ? '' : 'opacity-20'}`}
            />
            <span
              className={`text-2xs whitespace-nowrap ${index === rung ? 'font-semibold text-ink' : 'text-soft'}`}
            >
              {short(index)}
            </span>
          </li>
        ))}
      </ol>
    </Panel>
  )
}

/** Ten of them stand side by side on a phone. */
function short(rung: number): string {
  return rung === 0 ? '0' : rest(rung).replace(' min', 'm').replace(' h', 'h')
}

function words(rung: number): string {
  if (rung === 0) return `At its foot: a failure leads to rung 1, a rest of ${rest(1)}.`
  const more =
    rung >= TOP
      ? `another failure rests it for ${rest(TOP)} again`
      : `another failure leads to rung ${rung + 1}, a rest of ${rest(rung + 1)}`
  return `On rung ${rung} of ${TOP}: ${more}; a success goes down one.`
}
