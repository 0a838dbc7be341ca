// Plans a run: what to collect, what it may cost line by line, and a last question before money is spent.
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { newIdempotencyKey } from '@/api/client'
import { useObjection } from '@/api/permissions'
import { Button } from '@/kit/Button'
import { TextField } from '@/kit/Field'
import { microsOf } from '@/kit/money'
import { Page, Panel } from '@/kit/Panel'
import { Heading } from '@/kit/Subpage'
import { Empty, Failure } from '@/kit/states'
import { useSettled } from '@/kit/useSettled'
import { useUrlText } from '@/kit/useUrlText'
import { useCollectors, useEstimate } from './api'
import { CapField, capFault } from './CapField'
import { CategoryTable } from './CategoryTable'
import { ConfirmRunDialog } from './ConfirmRunDialog'
import { ReviewPanel } from './ReviewPanel'
import { SkipField, skippedDays } from './SkipField'
import { pathOf } from './signs'
import type { Collector } from './types'

export function PlanPage() {
  const objection = useObjection('runs.view')
  const { data, error, refetch, isFetching } = useCollectors()
  return (
    <Page
      title="Plan a run"
      asks="/v2/runs/collectors"
      heading={<Heading list="Runs" to="/runs" name="Plan a run" />}
      lead="Choose what to collect. Nothing is spent before you confirm."
    >
      {objection ? (
        <Panel>
          <Empty title="Not for this token">{objection}</Empty>
        </Panel>
      ) : error ? (
        <Failure
          what="The collectors could not be loaded."
          error={error}
          onRetry={refetch}
          isRetrying={isFetching}
        />
      ) : data ? (
        <Plan collectors={data} />
      ) : (
        <div role="status" aria-busy="true" aria-label="Loading the collectors" className="skeleton h-72" />
      )}
    </Page>
  )
}

function usePlan(collectors: Collector[]) {
  const [slug, setSlug] = useUrlText('collector')
  const [text, setText] = useUrlText('categories')
  const collector = collectors.find((one) => one.slug === slug) ?? collectors[0]
  const asked = new Set(text.split(','))
  const chosen = (collector?.categories ?? []).map(({ id }) => id).filter((id) => asked.has(id))
  return {
    collector,
    chosen,
    choose: (ids: string[]) => setText(ids.join(',')),
    setCollector: (next: string) => {
      setSlug(next)
      setText('')
    },
  }
}

/** A cap for this run and what it leaves out, in the address; and the estimate by them, once the cap can be one. */
function useChoices(collector: string, chosen: string[]) {
  const [typed, setTyped] = useUrlText('cap')
  const [skip, setSkip] = useUrlText('skip')
  const days = skippedDays(skip)
  const plain = useEstimate(collector, chosen, { budget_cap_micros: null, skip_collected_days: days })
  const fault = capFault(typed, plain.data)
  const settled = useSettled(typed)
  const cap = capFault(settled, plain.data) ? null : microsOf(settled)
  const choices = { budget_cap_micros: cap, skip_collected_days: days }
  const estimate = useEstimate(collector, plain.data ? chosen : [], choices)
  return { typed, setTyped, fault, days, setSkip, choices, estimate: estimate.data ? estimate : plain }
}

function Plan({ collectors }: { collectors: Collector[] }) {
  const { collector, chosen, choose, setCollector } = usePlan(collectors)
  const [name, setName] = useState('')
  // One for each time it is asked: pressed twice, it is still one run.
  const [key, setKey] = useState<string | null>(null)
  const navigate = useNavigate()
  const choosing = useChoices(collector?.slug ?? '', chosen)
  const { estimate, fault } = choosing
  if (!collector) {
    return (
      <Panel>
        <Empty title="No collectors">The server has none that it could run.</Empty>
      </Panel>
    )
  }
  return (
    <div className="grid items-start gap-4 xl:grid-cols-[2fr_3fr]">
      <Panel title="1. Scope" lead="A collector and some of its categories.">
        <div className="flex flex-col gap-4 p-4">
          <Collectors collectors={collectors} chosen={collector.slug} onChoose={setCollector} />
          <CategoryTable categories={collector.categories} chosen={chosen} onChoose={choose} />
          <TextField
            label="Name (optional)"
            value={name}
            onChange={setName}
            maxLength={200}
            placeholder="Collection, and the time it was planned"
          />
        </div>
      </Panel>
      <ReviewPanel
        collector={collector}
        chosen={chosen}
        query={estimate}
        capFault={fault}
        choices={(known) => (
          <>
            <SkipField
              days={choosing.days}
              onChange={choosing.setSkip}
              estimate={known}
              collector={collector}
            />
            <CapField typed={choosing.typed} onChange={choosing.setTyped} estimate={known} fault={fault} />
          </>
        )}
      >
        {(objection) => (
          <Button
            look="primary"
            needs="runs.manage"
            objection={objection}
            onClick={() => setKey(newIdempotencyKey())}
          >
            Review and confirm
          </Button>
        )}
      </ReviewPanel>
      {key && estimate.data && (
        <ConfirmRunDialog
          plan={{
            collector: collector.slug,
            categories: chosen,
            name: name.trim() || null,
            ...choosing.choices,
          }}
          estimate={estimate.data}
          idempotencyKey={key}
          onClose={() => setKey(null)}
          onBegun={(run) => navigate(pathOf(run.id))}
        />
      )}
    </div>
  )
}

type CollectorsProps = { collectors: Collector[]; chosen: string; onChoose: (slug: string) => void }

function Collectors({ collectors, chosen, onChoose }: CollectorsProps) {
  return (
    <fieldset>
      <legend className="mb-1 text-xs font-medium">Collector</legend>
      <div className="flex flex-wrap gap-2">
        {collectors.map(({ slug, categories }) => (
          <label
            key={slug}
            className="flex min-w-32 flex-1 cursor-pointer items-center gap-2.5 rounded-md border border-line px-3 py-2 hover:bg-hover has-checked:border-accent has-checked:bg-accent-wash"
          >
            <input
              type="radio"
              name="collector"
              aria-label={slug}
              checked={slug === chosen}
              onChange={() => onChoose(slug)}
              className="size-4 shrink-0 accent-accent"
            />
            <span>
              <span className="block font-medium">{slug}</span>
              <span className="block text-xs text-soft">{categories.length} categories</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
