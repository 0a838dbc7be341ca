// How a score comes about: each part begins where the one before it ended.
import type { Part } from './types'

export type Fall = Part & { from: number; to: number }

export function fallsOf(parts: Part[]): Fall[] {
  let sum = 0
  return parts.map((part) => {
    const from = sum
    sum += part.bits
    return { ...part, from, to: sum }
  })
}

/** Where a number of bits stands between the least and the most that is drawn, in percent. */
export type Scale = (bits: number) => number

const MARGIN = 0.04

export function scaleOf(falls: Fall[], join: number): Scale {
  const drawn = [0, join, ...falls.map(({ to }) => to)]
  const [least, most] = [Math.min(...drawn), Math.max(...drawn)]
  const margin = (most - least || 1) * MARGIN
  return (bits) => (100 * (bits - least + margin)) / (most - least + 2 * margin || 1)
}

/** `+4.5`, `−17`, `0`; with the minus that is as wide as the plus. */
export function signed(bits: number): string {
  const text = Math.abs(bits).toLocaleString('en', { maximumFractionDigits: 2 })
  return bits < 0 ? `−${text}` : bits > 0 ? `+${text}` : text
}

export function inBits(bits: number): string {
  return `${signed(bits).replace('+', '')} ${Math.abs(bits) === 1 ? 'bit' : 'bits'}`
}
