// Copies a text, also on plain HTTP, where the clipboard API is missing.
import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { Button } from './Button'

async function copy(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  area.style.position = 'fixed'
  // Outside an open dialog nothing can be selected: a modal makes the rest of the page inert.
  const home = document.querySelector('dialog[open]') ?? document.body
  home.append(area)
  area.select()
  const isDone = document.execCommand('copy')
  area.remove()
  if (!isDone) throw new Error('copying was refused')
}

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
