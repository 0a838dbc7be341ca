// An address that breaks after its slashes where it has to, and not in the middle of a word.
import { Fragment } from 'react'

export function Url({ text }: { text: string }) {
  return text.split(/(?<=[/?&])/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts have no other name, and never change places
    <Fragment key={index}>
      {part}
      <wbr />
    </Fragment>
  ))
}
