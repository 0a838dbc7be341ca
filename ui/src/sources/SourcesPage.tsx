// Where records come from: how far each source is, what it needs, and the buttons that start and stop it.
import { useObjection } from '@/api/permissions'
import { Ahead } from '@/kit/Ahead'
import { Page, Panel } from '@/kit/Panel'
import { sized } from '@/kit/sizes'
import { Empty } from '@/kit/states'
import { useUrlText } from '@/kit/useUrlText'
import { useSources } from './api'
import { LettersDialog } from './LettersDialog'
import { SourcePanel } from './SourcePanel'

export function SourcesPage() {
  const objection = useObjection('entities.view')
  const { data, error, refetch, isFetching } = useSources(objection === null)
  const [letters, setLetters] = useUrlText('letters')
  const queued = data?.[0]?.progress.queued_bytes ?? 0
  return (
    <Page
      title="Sources"
      asks="/v2/sources"
      lead={`Where records come from; each is asked no more often than it bears.${queued > 0 ? ` ${sized(queued)} of them wait to be written.` : ''}`}
    >
      <Ahead
        of="sources"
        objection={objection}
        error={error}
        isThere={data !== undefined}
        isFetching={isFetching}
        onRetry={refetch}
        height="h-64"
      />
      {data?.length === 0 && (
        <Panel>
          <Empty title="No sources">
            A source is a file. Put one into the folder that{' '}
            <code className="font-mono text-xs">LEASEHOLD_SOURCES_DIR</code> names, and it is here within a
            few seconds.
          </Empty>
        </Panel>
      )}
      {data?.map((source) => (
        <SourcePanel key={source.name} source={source} onLetters={() => setLetters(source.name)} />
      ))}
      {letters && <LettersDialog name={letters} onClose={() => setLetters('')} />}
    </Page>
  )
}
