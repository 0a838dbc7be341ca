// The weights by which records are compared: those in force for each kind, those before, and those proposed.
import { Plus } from 'lucide-react'
import { useObjection } from '@/api/permissions'
import { sentence } from '@/api/problems'
import { Ahead } from '@/kit/Ahead'
import { Button } from '@/kit/Button'
import { Page, Panel } from '@/kit/Panel'
import { Empty, Refused } from '@/kit/states'
import { AreaLinks } from './AreaLinks'
import { useEpochs, usePropose } from './api'
import { EpochItem } from './EpochItem'
import type { Epoch } from './types'

export function WeightsPage() {
  const objection = useObjection('entities.view')
  const { data, error, refetch, isFetching } = useEpochs(objection === null)
  const kinds = [...new Set(data?.map(({ kind }) => kind))]
  return (
    <Page
      title="Weights"
      asks="/v2/entities/epochs"
      lead="How much each field says about two records being one. They change all at once, and show what would change first."
      actions={<AreaLinks />}
    >
      <Ahead
        of="weights"
        objection={objection}
        error={error}
        isThere={data !== undefined}
        isFetching={isFetching}
        onRetry={refetch}
        height="h-48"
      />
      {data?.length === 0 && (
        <Panel>
          <Empty title="No weights yet">
            Each kind of entities has its own. The first are what the configuration says, and are there with
            the first record of the kind.
          </Empty>
        </Panel>
      )}
      {kinds.map((kind) => (
        <Kind key={kind} kind={kind} epochs={data?.filter((epoch) => epoch.kind === kind) ?? []} />
      ))}
    </Page>
  )
}

function Kind({ kind, epochs }: { kind: string; epochs: Epoch[] }) {
  const propose = usePropose()
  const isMoving = epochs.some(({ state }) => state === 'moving')
  const inForce = epochs.find(({ state }) => state === 'current')?.version
  return (
    <Panel
      title={kind}
      lead="The latest first."
      action={
        <Button
          icon={Plus}
          needs="entities.manage"
          isBusy={propose.isPending}
          onClick={() => propose.mutate(kind)}
        >
          {propose.isPending ? 'Learning…' : 'Propose new weights'}
        </Button>
      }
    >
      {propose.isPending && (
        <p role="status" className="border-b border-line px-4 py-2 text-soft">
          Learning from all records and from what people said, then comparing everything. Nothing changes by
          it.
        </p>
      )}
      {propose.error && (
        <div className="p-4">
          <Refused>{sentence(propose.error)}</Refused>
        </div>
      )}
      <ol aria-label={`Weights of ${kind}`} className="divide-y divide-line">
        {epochs.map((epoch) => (
          <li key={epoch.number} className="px-4 py-3">
            <EpochItem epoch={epoch} isMoving={isMoving} isSame={epoch.version === inForce} />
          </li>
        ))}
      </ol>
    </Panel>
  )
}
