// One dead letter: why it is one, and what it takes to try it again.
import { Link } from 'react-router'
import { pathOf } from '@/jobs/signs'
import { worded } from '@/jobs/states'
import { Button } from '@/kit/Button'
import { CopyButton } from '@/kit/CopyButton'
import { Dialog } from '@/kit/Dialog'
import { Fact } from '@/kit/Fact'
import { Json } from '@/kit/Json'
import { Moment } from '@/kit/Moment'
import type { Letter } from './types'

type Props = { letter: Letter; onClose: () => void; onReplay: () => void }

export function LetterDialog({ letter, onClose, onReplay }: Props) {
  return (
    <Dialog
      title={`Dead letter: ${worded(letter.reason)}`}
      onClose={onClose}
      isWide
      footer={
        <>
          <CopyButton text={JSON.stringify(letter.payload, null, 2)} label="Copy payload" />
          <Button look="primary" needs="jobs.manage" onClick={onReplay}>
            Replay
          </Button>
        </>
      }
    >
      {letter.detail && <p className="font-medium">{letter.detail}</p>}
      <dl className="flex flex-col gap-1.5">
        <Fact term="Died">
          <Moment at={letter.at} />
        </Fact>
        <Fact term="Platform">{letter.platform ?? 'none'}</Fact>
        {letter.job_id && (
          <Fact term="Job">
            <Link to={pathOf(letter.job_id)} className="font-mono text-xs text-accent hover:underline">
              {letter.job_id}
            </Link>
          </Fact>
        )}
        {letter.attempt !== null && <Fact term="Attempt">{letter.attempt}</Fact>}
        <Fact term="Replayed">
          <Moment at={letter.replayed_at} />
        </Fact>
        <Fact term="Id">
          <span className="font-mono text-xs select-all">{letter.id}</span>
        </Fact>
      </dl>
      <Json value={letter.payload} label="Payload" className="max-h-72 shrink-0" />
    </Dialog>
  )
}
