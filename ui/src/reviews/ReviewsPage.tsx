// Pairs of records somebody should look at, one at a time, in the order of what an answer teaches.
import { useObjection } from '@/api/permissions'
import { useKinds } from '@/entities/api'
import { Ahead } from '@/kit/Ahead'
import { Button } from '@/kit/Button'
import { asked } from '@/kit/copying'
import { Select } from '@/kit/Field'
import { Page, Panel } from '@/kit/Panel'
import { Empty } from '@/kit/states'
import { useUrlText } from '@/kit/useUrlText'
import { useQuestions } from './api'
import { Desk } from './Desk'

export function ReviewsPage() {
  const objection = useObjection('entities.view')
  const [kind, setKind] = useUrlText('kind')
  const list = useQuestions(kind || undefined, objection === null)
  const kinds = useKinds(objection === null)
  return (
    <Page
      title="Reviews"
      asks={asked('/v2/entities/reviews', { kind })}
      lead="Pairs that could be one. What teaches most comes first."
      actions={
        (kinds.length > 1 || kind) && (
          <Select
            label="Kind"
            isLabelHidden
            value={kind}
            onChange={setKind}
            options={{
              '': 'Every kind',
              ...Object.fromEntries([...new Set([...kinds, kind])].filter(Boolean).map((one) => [one, one])),
            }}
          />
        )
      }
    >
      <Ahead
        of="reviews"
        objection={objection}
        error={list.error}
        isThere={list.items !== undefined}
        isFetching={list.isRefreshing}
        onRetry={list.retry}
        height="h-96"
      />
      {list.items && <span data-own-keys hidden />}
      {list.items && (
        <Desk
          list={list}
          questions={list.items}
          nothing={
            <Panel>
              <Empty
                title="Nothing needs a look"
                action={
                  <Button onClick={list.retry} isBusy={list.isRefreshing}>
                    Look again
                  </Button>
                }
              >
                Every pair of records is clearly one or clearly not, or somebody has said so. New doubts come
                with new records.
              </Empty>
            </Panel>
          }
        />
      )}
    </Page>
  )
}
