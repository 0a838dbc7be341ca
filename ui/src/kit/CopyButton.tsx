// A button that copies a text, and says whether it could.
import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { Button } from './Button'
import { copy } from './copying'

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [outcome, setOutcome] = useState<string | null>(null)
  return (
    <Button
      icon={outcome === 'Copied' ? Check : Copy}
      onClick={() => {
        copy(text).then(
          () => setOutcome('Copied'),
          () => setOutcome('Select it and copy by hand'),
        )
      }}
    >
      <span aria-live="polite">{outcome ?? label}</span>
    </Button>
  )
}
