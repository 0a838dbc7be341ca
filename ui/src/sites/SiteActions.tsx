// What one can do to a site as a whole: move, pause or resume, delete.
import { ArrowRightLeft, Pause, Play, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { sentence } from '@/api/problems'
import type { Site } from '@/api/types'
import { Button } from '@/kit/Button'
import { useResumeSite } from './api'
import { DeleteSiteDialog } from './DeleteSiteDialog'
import { MoveDialog } from './MoveDialog'
import { PauseDialog } from './PauseDialog'

export function SiteActions({ site }: { site: Site }) {
  const [open, setOpen] = useState<'move' | 'pause' | 'delete' | null>(null)
  const resumption = useResumeSite(site.slug)
  const navigate = useNavigate()
  const close = () => setOpen(null)
  return (
    <>
      {resumption.error && (
        <p role="alert" className="text-bad">
          {sentence(resumption.error)}
        </p>
      )}
      <Button
        look="quiet"
        icon={Trash2}
        needs="sites.manage"
        onClick={() => setOpen('delete')}
        className="max-sm:-ml-3"
      >
        Delete
      </Button>
      {site.paused ? (
        <Button
          icon={Play}
          needs="sites.manage"
          isBusy={resumption.isPending}
          onClick={() => resumption.mutate(undefined)}
        >
          Resume
        </Button>
      ) : (
        <Button icon={Pause} needs="sites.manage" onClick={() => setOpen('pause')}>
          Pause
        </Button>
      )}
      <Button look="primary" icon={ArrowRightLeft} needs="sites.manage" onClick={() => setOpen('move')}>
        Move
      </Button>
      {open === 'move' && <MoveDialog site={site} onClose={close} />}
      {open === 'pause' && <PauseDialog site={site} onClose={close} />}
      {open === 'delete' && (
        <DeleteSiteDialog site={site} onClose={close} onDeleted={() => navigate('/sites')} />
      )}
    </>
  )
}
