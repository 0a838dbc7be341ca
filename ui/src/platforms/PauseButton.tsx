// Pauses a platform after asking why, or resumes it at once.
import { Pause, Play } from 'lucide-react'
import { useState } from 'react'
import { sentence } from '@/api/problems'
import { Button } from '@/kit/Button'
import { useResume } from './api'
import { PauseDialog } from './PauseDialog'
import type { Platform } from './types'

type Props = { platform: Platform; look?: 'plain' | 'quiet' }

export function PauseButton({ platform, look = 'plain' }: Props) {
  const [isOpen, setIsOpen] = useState(false)
  const resumption = useResume(platform.platform)
  return (
    <>
      {resumption.error && (
        <p role="alert" className="text-bad">
          {sentence(resumption.error)}
        </p>
      )}
      {platform.paused ? (
        <Button
          icon={Play}
          look={look}
          needs="jobs.manage"
          aria-label={`Resume ${platform.platform}`}
          isBusy={resumption.isPending}
          onClick={() => resumption.mutate(undefined)}
        >
          Resume
        </Button>
      ) : (
        <Button
          icon={Pause}
          look={look}
          needs="jobs.manage"
          aria-label={`Pause ${platform.platform}`}
          onClick={() => setIsOpen(true)}
        >
          Pause
        </Button>
      )}
      {isOpen && <PauseDialog platform={platform} onClose={() => setIsOpen(false)} />}
    </>
  )
}
