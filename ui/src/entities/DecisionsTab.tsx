// What people said of the records of an entity.
import { CircleHelp, Equal, EqualNot } from 'lucide-react'
import { Moment } from '@/kit/Moment'
import { Stop, Timeline } from '@/kit/Timeline'
import type { useEvidence } from './api'
import { TabBody } from './TabBody'
import type { Entity } from './types'

const SIGNS = {
  same: { icon: Equal, tone: 'good', label: 'Said to be one' },
  different: { icon: EqualNot, tone: 'bad', label: 'Said to be different' },
  unsure: { icon: CircleHelp, tone: 'neutral', label: 'Not sure' },
} as const

type Props = { entity: Entity; query: ReturnType<typeof useEvidence> }

export function DecisionsTab({ entity, query }: Props) {
  const nameOf = (id: string) => {
    const record = entity.records.find((one) => one.id === id)
    return record ? `${record.source} ${record.source_id}` : id
  }
  return (
    <TabBody what="The decisions" query={query}>
      {({ decisions }) =>
        decisions.length === 0 ? (
          <p className="px-4 py-8 text-center text-soft">
            Nobody has said anything of these records. They are together for what they say.
          </p>
        ) : (
          <Timeline label="Decisions">
            {decisions.map(({ a, b, decision, actor, at }) => {
              const sign = SIGNS[decision as keyof typeof SIGNS] ?? SIGNS.unsure
              return (
                <Stop
                  key={`${a} ${b}`}
                  sign={sign}
                  title={sign.label}
                  aside={
                    <>
                      by {actor}, <Moment at={at} />
                    </>
                  }
                >
                  {nameOf(a)} · {nameOf(b)}
                </Stop>
              )
            })}
          </Timeline>
        )
      }
    </TabBody>
  )
}
