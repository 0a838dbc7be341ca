// What could not be done, newest first: why, what was asked, and the way to have it tried again.
import { RotateCcw } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useObjection } from '@/api/permissions'
import { worded } from '@/jobs/states'
import { Button } from '@/kit/Button'
import { asked } from '@/kit/copying'
import { Select } from '@/kit/Field'
import { FilterBar, Listing } from '@/kit/Listing'
import { Page } from '@/kit/Panel'
import { Empty } from '@/kit/states'
import { useRepeated } from '@/kit/useRepeated'
import { useSteady } from '@/kit/useSteady'
import { useUrlText } from '@/kit/useUrlText'
import { PlatformFilter } from '@/platforms/PlatformFilter'
import { useCounts, useLetters, type Wanted } from './api'
import { LetterDialog } from './LetterDialog'
import { LettersTable } from './LettersTable'
import { ReasonsPanel } from './ReasonsPanel'
import { ReplayDialog } from './ReplayDialog'
import { ReplaysPanel } from './ReplaysPanel'
import type { Letter, LetterCount, ReplayIn } from './types'

// What was replayed is done with, so it is not what one comes for.
const REPLAYED: Record<string, boolean | undefined> = { '': false, yes: true, any: undefined }
const REPLAYED_WORDS = { '': 'Not replayed', yes: 'Replayed', any: 'All of them' }

function useFilters() {
  const [platform, setPlatform] = useUrlText('platform')
  const [reason, setReason] = useUrlText('reason')
  const [shown, setShown] = useUrlText('replayed')
  const known = shown in REPLAYED ? shown : ''
  const wanted: Wanted = {
    platform: platform || undefined,
    reason: reason || undefined,
    replayed: REPLAYED[known],
  }
  return {
    ...{ wanted, platform, setPlatform, reason, setReason, shown: known, setShown },
    isFiltered: Boolean(platform || reason || known),
    clear: () => {
      for (const set of [setPlatform, setReason, setShown]) set('')
    },
  }
}

type Filters = ReturnType<typeof useFilters>

/** How many of those that fit wait to be replayed. */
function openOf(counts: LetterCount[] | undefined, reason: string): number {
  return (
    counts?.filter((one) => !reason || one.reason === reason).reduce((sum, one) => sum + one.open, 0) ?? 0
  )
}

export function LettersPage() {
  const objection = useObjection('jobs.view')
  const filters = useFilters()
  const list = useSteady(useLetters(filters.wanted, objection === null), ({ id }) => id)
  useRepeated(list)
  const counts = useCounts(filters.platform, objection === null)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [wish, setWish] = useState<ReplayIn | null>(null)
  const [opened, setOpened] = useState<Letter | null>(null)
  const { platform, reason, shown } = filters
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter shows other letters; what is out of sight is not chosen
  useEffect(() => setChosen(new Set()), [platform, reason, shown])
  const open = openOf(counts.data, reason)

  function replayAll() {
    setWish({ filter: { platform: platform || null, reason: reason || null } })
  }

  return (
    <Page
      title="Dead letters"
      asks={asked('/v2/jobs/dead-letters', filters.wanted)}
      lead="What could not be done, with all it takes to try it again."
    >
      {objection === null && (
        <>
          <ReplaysPanel />
          <ReasonsPanel counts={counts.data} reason={reason} onReason={filters.setReason} />
        </>
      )}
      <Listing
        list={list}
        noun="dead letter"
        objection={objection}
        isFiltered={filters.isFiltered}
        onClear={filters.clear}
        filters={
          <>
            <Bar filters={filters} counts={counts.data} />
            <Acts
              chosen={chosen.size}
              open={shown === 'yes' ? 0 : open}
              isFiltered={Boolean(platform || reason)}
              onChosen={() => setWish({ ids: [...chosen], again: shown !== '' })}
              onAll={replayAll}
              onNone={() => setChosen(new Set())}
            />
          </>
        }
        firstUse={
          <FirstUse hasReplayed={(counts.data ?? []).length > 0} onShow={() => filters.setShown('any')} />
        }
      >
        <LettersTable
          letters={list.items}
          chosen={chosen}
          onChoose={setChosen}
          onOpen={setOpened}
          onReplay={(letter) => setWish({ ids: [letter.id], again: letter.replayed_at !== null })}
        />
      </Listing>
      {opened && (
        <LetterDialog
          letter={opened}
          onClose={() => setOpened(null)}
          onReplay={() => {
            setOpened(null)
            setWish({ ids: [opened.id], again: opened.replayed_at !== null })
          }}
        />
      )}
      {wish && (
        <ReplayDialog wish={wish} onClose={() => setWish(null)} onReplayed={() => setChosen(new Set())} />
      )}
    </Page>
  )
}

function Bar({ filters, counts = [] }: { filters: Filters; counts?: LetterCount[] }) {
  const { platform, reason, shown } = filters
  const reasons = [...new Set([...counts.map((one) => one.reason), ...(reason ? [reason] : [])])].sort()
  const options = { '': 'Every reason', ...Object.fromEntries(reasons.map((one) => [one, worded(one)])) }
  return (
    <FilterBar isFiltered={filters.isFiltered} onClear={filters.clear}>
      <PlatformFilter value={platform} onChange={filters.setPlatform} />
      <Select
        label="Reason"
        isLabelHidden
        className="min-w-32 flex-1 sm:flex-none"
        value={reason}
        onChange={filters.setReason}
        options={options as Record<string, string>}
      />
      <Select
        label="Replayed"
        isLabelHidden
        className="min-w-32 flex-1 sm:flex-none"
        value={shown}
        onChange={filters.setShown}
        options={REPLAYED_WORDS as Record<string, string>}
      />
    </FilterBar>
  )
}

type ActsProps = {
  chosen: number
  open: number
  isFiltered: boolean
  onChosen: () => void
  onAll: () => void
  onNone: () => void
}

function Acts({ chosen, open, isFiltered, onChosen, onAll, onNone }: ActsProps) {
  const all = `Replay all ${open.toLocaleString('en')}${isFiltered ? ' that match' : ''}`
  return (
    <div className="flex min-h-12 flex-wrap items-center justify-between gap-2 border-b border-line bg-sunken px-4 py-2">
      <p aria-live="polite" className="text-soft">
        {chosen > 0 ? `${chosen} chosen` : 'Choose letters to replay, or take all of them.'}
      </p>
      <div className="flex flex-wrap items-center gap-2">
        {chosen > 0 ? (
          <>
            <Button look="quiet" onClick={onNone}>
              Choose none
            </Button>
            <Button look="primary" icon={RotateCcw} needs="jobs.manage" onClick={onChosen}>
              Replay {chosen} chosen
            </Button>
          </>
        ) : (
          <Button
            icon={RotateCcw}
            needs="jobs.manage"
            objection={open === 0 ? 'Nothing waits to be replayed.' : null}
            onClick={onAll}
          >
            {all}
          </Button>
        )}
      </div>
    </div>
  )
}

function FirstUse({ hasReplayed, onShow }: { hasReplayed: boolean; onShow: () => void }) {
  return (
    <Empty
      title="No dead letters"
      action={hasReplayed ? <Button onClick={onShow}>Show those that were replayed</Button> : undefined}
    >
      What fails for good, misses its deadline, loses too many workers or is refused on its way in is kept
      here with its reason, until somebody has it tried again.
    </Empty>
  )
}
