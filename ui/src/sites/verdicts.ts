// What the server says about a URL, in words.
import type { Rewritten } from '@/api/types'
import type { Tone } from '@/kit/Badge'

type Reading = { word: string; tone: Tone; means: string }

const REFUSALS: Record<string, string> = {
  unparsable: 'This is not a URL.',
  scheme: 'Only http and https URLs belong to sites.',
  userinfo: 'It carries a user name or password.',
  'no-address': 'The site has no address that URLs may go to.',
  'subdomain-not-mapped': 'The current address has no such subdomain.',
}

export function read({ verdict, site }: Rewritten): Reading {
  if (verdict === 'rewritten')
    return { word: 'Rewritten', tone: 'accent', means: `At the address of ${site}.` }
  if (verdict === 'unchanged') return { word: 'Unchanged', tone: 'good', means: `As ${site} has it already.` }
  if (verdict === 'unmanaged')
    return { word: 'Unmanaged', tone: 'neutral', means: 'No site of yours lives there.' }
  const [, rule = '', other] = verdict.split(':')
  const means = other ? `The site ${other} holds that part of the address.` : (REFUSALS[rule] ?? rule)
  return { word: 'Refused', tone: 'bad', means }
}
