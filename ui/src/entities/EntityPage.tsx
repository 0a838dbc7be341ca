// One entity: what is known of it, the records it is made of, why they are together, and how to change that.
import { CornerDownRight, Merge } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { useLocation, useNavigate, useParams } from 'react-router'
import { Badge } from '@/kit/Badge'
import { Button } from '@/kit/Button'
import { Explanation } from '@/kit/Explanation'
import { Page } from '@/kit/Panel'
import { Columns, Heading, Subpage } from '@/kit/Subpage'
import { Tabs } from '@/kit/Tabs'
import { useEntity, useEvidence } from './api'
import { CardPanel } from './CardPanel'
import { DecisionsTab } from './DecisionsTab'
import { EraseDialog } from './EraseDialog'
import { EvidenceTab } from './EvidenceTab'
import { HistoryTab } from './HistoryTab'
import { MergeDialog } from './MergeDialog'
import { ReceiptPage } from './ReceiptPage'
import { RecordsPanel } from './RecordsPanel'
import { counted, pathOf, short } from './signs'
import type { Entity, Receipt } from './types'
import { type Done, UndoBanner } from './UndoBanner'
import { WhyTab } from './WhyTab'

export function EntityPage() {
  const { id = '' } = useParams()
  // What one entity's page was about to do is not for the next one's.
  return <One key={id} id={id} />
}

function One({ id }: { id: string }) {
  // Kept above what is loaded: an erased entity is not there any more, but its receipt is.
  const [receipt, setReceipt] = useState<Receipt | null>(null)
  const query = useEntity(receipt ? '' : id)
  useSurvivor(id, query.data)
  if (receipt) return <ReceiptPage receipt={receipt} />
  return (
    <Subpage noun="entity" list="Entities" to="/entities" query={query}>
      {(entity, failure) => <Loaded entity={entity} failure={failure} onErased={setReceipt} />}
    </Subpage>
  )
}

/** One that was merged into another answers as that one: so does the address. */
function useSurvivor(id: string, entity: Entity | undefined) {
  const navigate = useNavigate()
  const { search } = useLocation()
  const other = entity && entity.id !== id ? entity.id : null
  useEffect(() => {
    if (other) navigate(pathOf(other) + search, { replace: true, state: { from: id } })
  }, [other, id, search, navigate])
}

type Props = { entity: Entity; failure: ReactNode; onErased: (receipt: Receipt) => void }

function Loaded({ entity, failure, onErased }: Props) {
  const [open, setOpen] = useState<'merge' | 'erase' | null>(null)
  const [done, setDone] = useState<Done | null>(null)
  const from = (useLocation().state as { from?: string } | null)?.from
  const evidence = useEvidence(entity.id)
  const close = () => setOpen(null)
  return (
    <Page
      title={entity.name}
      asks={`/v2/entities/${entity.id}`}
      heading={
        <Heading list="Entities" to="/entities" name={entity.name}>
          <Badge>{entity.kind}</Badge>
          <span className="text-xs text-soft">{counted(entity.size, 'record')}</span>
        </Heading>
      }
      actions={
        <>
          <Button icon={Merge} needs="entities.manage" onClick={() => setOpen('merge')}>
            Merge
          </Button>
          <Button needs="entities.manage" onClick={() => setOpen('erase')}>
            Erase
          </Button>
        </>
      }
    >
      {failure}
      {from && !done && (
        <Explanation tone="neutral" icon={CornerDownRight}>
          {short(from)} was merged into this entity, so its address leads here.
        </Explanation>
      )}
      {done && <UndoBanner entity={entity} done={done} onDone={setDone} />}
      <Columns
        main={
          <>
            <RecordsPanel entity={entity} onSplit={setDone} />
            <Tabs
              label="Why it is so"
              tabs={{
                evidence: { label: 'Evidence', render: () => <EvidenceTab query={evidence} /> },
                why: { label: 'Why?', render: () => <WhyTab entity={entity} /> },
                decisions: {
                  label: 'Decisions',
                  count: evidence.data?.decisions.length,
                  render: () => <DecisionsTab entity={entity} query={evidence} />,
                },
                history: { label: 'History', render: () => <HistoryTab id={entity.id} /> },
              }}
            />
          </>
        }
        side={<CardPanel entity={entity} />}
      />
      {open === 'merge' && (
        <MergeDialog
          entity={entity}
          onClose={close}
          onMerged={(other) => {
            setDone({ act: 'merged', other })
            close()
          }}
        />
      )}
      {open === 'erase' && <EraseDialog entity={entity} onClose={close} onErased={onErased} />}
    </Page>
  )
}
