// Where reviews are decided: the pair in hand, the answers and their keys, and the way back from the last one.
import { ArrowLeft, ArrowRight, Check, CircleHelp, type LucideIcon, Undo2, X } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { List } from '@/api/lists'
import { useObjection } from '@/api/permissions'
import { sentence } from '@/api/problems'
import { useStats } from '@/entities/api'
import { EntityLink } from '@/entities/signs'
import { Button } from '@/kit/Button'
import { Refused } from '@/kit/states'
import { useUrlText } from '@/kit/useUrlText'
import { useDecide, useDismiss, useReopen } from './api'
import { type Act, useKeys } from './keys'
import { Pair } from './Pair'
import type { Decision, Question } from './types'

const ANSWERS: Record<Decision, { label: string; past: string; key: string; icon: LucideIcon }> = {
  same: { label: 'Same', past: 'the same', key: 'y', icon: Check },
  different: { label: 'Different', past: 'different', key: 'n', icon: X },
  unsure: { label: 'Unsure', past: 'not clear', key: 'u', icon: CircleHelp },
}
const NAMES = Object.keys(ANSWERS) as Decision[]
/** So many before the end the next page is asked for. */
const AHEAD = 5

type Last = { question: Question; decision: Decision; entities: string[] }
type Props = { list: List<Question>; questions: Question[]; nothing: ReactNode }

export function Desk({ list, questions, nothing }: Props) {
  const place = usePlace(questions)
  const { index, question } = place
  const [last, setLast] = useState<Last | null>(null)
  const decide = useDecide()
  const reopen = useReopen()
  const dismiss = useDismiss()
  const forbidden = useObjection('entities.manage')
  const isBusy = decide.isPending || reopen.isPending
  // The page shows the next one a moment after the answer is in; a quick second key must not hit the same again.
  const answeredId = useRef('')

  useEffect(() => {
    const isNear = questions.length - index <= AHEAD
    if (isNear && list.hasMore && !list.isLoadingMore && list.error === null) list.loadMore()
  }, [list, questions.length, index])

  function say(decision: Decision) {
    if (!question || forbidden || isBusy || answeredId.current === question.id) return
    const next = questions[index + 1] ?? questions[index - 1]
    decide.mutate(
      { id: question.id, decision },
      {
        onSuccess: ({ entities }) => {
          answeredId.current = question.id
          setLast({ question, decision, entities })
          dismiss(question.id)
          place.go(next)
        },
      },
    )
  }

  function undo() {
    if (!last || forbidden || isBusy) return
    reopen.mutate(last.question.id, {
      onSuccess: () => {
        answeredId.current = ''
        place.go(last.question)
        setLast(null)
      },
    })
  }

  useKeys((act: Act) => {
    if (act === 'undo') undo()
    else if (act === 'next') place.go(questions[index + 1])
    else if (act === 'previous') place.go(questions[index - 1])
    else say(act)
  })

  const fault = decide.error ?? reopen.error
  return (
    <>
      <LastWord last={last} onUndo={undo} isBusy={reopen.isPending} />
      <Refused>{fault && sentence(fault)}</Refused>
      {question ? (
        <>
          <Pair question={question} />
          <div className="sticky bottom-0 z-10 -mx-4 flex flex-wrap items-center gap-2 border-t border-line bg-panel px-4 py-3 sm:mx-0 sm:rounded-lg sm:border sm:shadow-float">
            {NAMES.map((name) => (
              <Button
                key={name}
                look={name === 'same' ? 'primary' : 'plain'}
                icon={ANSWERS[name].icon}
                needs="entities.manage"
                isBusy={isBusy}
                onClick={() => say(name)}
                aria-keyshortcuts={ANSWERS[name].key}
              >
                {ANSWERS[name].label} <Key>{ANSWERS[name].key}</Key>
              </Button>
            ))}
            <span className="ml-auto flex items-center gap-1">
              <Place index={index} list={list} />
              <Step icon={ArrowLeft} label="Previous" to={questions[index - 1]} go={place.go} hint="k" />
              <Step icon={ArrowRight} label="Next" to={questions[index + 1]} go={place.go} hint="j" />
            </span>
          </div>
        </>
      ) : (
        nothing
      )}
    </>
  )
}

/** Which question is in hand. It is in the address; when it is gone, the one that took its place is. */
function usePlace(questions: Question[]) {
  const [id, setId] = useUrlText('review')
  const before = useRef(0)
  const found = questions.findIndex((one) => one.id === id)
  const index = found >= 0 ? found : Math.max(0, Math.min(before.current, questions.length - 1))
  before.current = index
  return {
    index,
    question: questions[index],
    go: (to: Question | undefined) => to && setId(to.id),
  }
}

function Place({ index, list }: { index: number; list: List<Question> }) {
  const { data } = useStats()
  const total = Math.max(data?.open_reviews ?? 0, list.items?.length ?? 0)
  return (
    <span className="mr-1 text-xs whitespace-nowrap text-soft">
      {(index + 1).toLocaleString('en')} of {total.toLocaleString('en')}
    </span>
  )
}

type StepProps = {
  icon: LucideIcon
  label: string
  to: Question | undefined
  go: (to: Question | undefined) => void
  hint: string
}

function Step({ icon, label, to, go, hint }: StepProps) {
  return (
    <Button
      look="quiet"
      icon={icon}
      aria-label={label}
      aria-keyshortcuts={hint}
      objection={to ? null : `There is no ${label.toLowerCase()} one.`}
      onClick={() => go(to)}
    >
      <Key>{hint}</Key>
    </Button>
  )
}

function Key({ children }: { children: string }) {
  return (
    <kbd aria-hidden className="rounded border border-current/30 px-1 font-mono text-2xs max-sm:hidden">
      {children}
    </kbd>
  )
}

function LastWord({ last, onUndo, isBusy }: { last: Last | null; onUndo: () => void; isBusy: boolean }) {
  const homes = [...new Set(last?.entities)]
  return (
    <div role="status" className="empty:hidden">
      {last && (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-md border border-line bg-panel px-4 py-2 shadow-raised">
          <span className="min-w-0 [overflow-wrap:anywhere]">
            <span className="font-medium">
              {last.question.a.name} and {last.question.b.name}
            </span>{' '}
            are {ANSWERS[last.decision].past}, you said.
          </span>
          <span className="flex gap-2 text-xs">
            {homes.map((id) => (
              <EntityLink key={id} id={id} />
            ))}
          </span>
          <span className="ml-auto">
            <Button icon={Undo2} onClick={onUndo} isBusy={isBusy} aria-keyshortcuts="z">
              Undo <Key>z</Key>
            </Button>
          </span>
        </div>
      )}
    </div>
  )
}
