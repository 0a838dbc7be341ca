// What charts share: the colours of the page, axes, and times in the zone that was chosen.
import type uPlot from 'uplot'
import { written } from './zone'

/** A canvas knows no variables of the style sheet: they are read where it stands. */
export function inkOf(element: HTMLElement, name: string): string {
  const swatch = document.createElement('span')
  swatch.style.color = `var(--${name})`
  element.append(swatch)
  const colour = getComputedStyle(swatch).color
  swatch.remove()
  return colour
}

export function axisOf(element: HTMLElement): uPlot.Axis {
  return {
    stroke: inkOf(element, 'soft'),
    grid: { stroke: inkOf(element, 'line'), width: 1 },
    ticks: { show: false },
  }
}

export function timed(_chart: uPlot, seconds: number[]): string[] {
  return seconds.map((one) => written(one * 1000).time.slice(0, one % 60 ? 8 : 5))
}

const TIP =
  'pointer-events-none absolute top-1 z-10 rounded-md border border-line bg-panel px-2 py-1 text-xs whitespace-nowrap text-ink shadow-float'

/** What stands under the pointer, in words: a line for each. */
export function hover(words: (index: number) => string[]): uPlot.Plugin {
  const tip = document.createElement('div')
  tip.className = TIP
  tip.hidden = true
  return {
    hooks: {
      init: (chart) => chart.over.append(tip),
      setCursor: (chart) => {
        const { idx, left = -1 } = chart.cursor
        tip.hidden = typeof idx !== 'number' || left < 0
        if (typeof idx !== 'number' || left < 0) return
        tip.replaceChildren(...words(idx).map(lineOf))
        // Beside the pointer, on the side that has room.
        const width = chart.over.clientWidth
        const isLate = left > width / 2
        tip.style.left = isLate ? 'auto' : `${left + 12}px`
        tip.style.right = isLate ? `${width - left + 12}px` : 'auto'
      },
    },
  }
}

function lineOf(text: string): HTMLElement {
  const line = document.createElement('div')
  line.textContent = text
  return line
}

/** A point of the time axis, to the second and with its zone. */
export function momentOf(seconds: number): string {
  const { time, zone } = written(seconds * 1000)
  return `${time.slice(0, 8)} ${zone}`
}
