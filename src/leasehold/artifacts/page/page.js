// The status page: reads one file beside itself, says how old it is, and draws it. It asks nobody else for anything.
'use strict'
{
  const DATA = new URL('status.v1.json', document.currentScript.src)
  const SVG = 'http://www.w3.org/2000/svg'
  const WORDS = { ok: 'Well', quiet: 'Quiet', degraded: 'Degraded', trouble: 'Trouble', stale: 'Stale' }
  const NUMBER = new Intl.NumberFormat('en')
  const MONEY = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' })
  const MOMENT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
  const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
  const LONGEST_WAIT_S = 300
  const SHORTEST_WAIT_S = 15

  let data = null // the last edition that could be read
  let failed = false // whether the last try to read one did
  let shown = '' // what the banner says, so that nobody is told the same thing every second

  const $ = (id) => document.getElementById(id)

  function el(tag, attributes, ...children) {
    const made = tag.startsWith('svg:') ? document.createElementNS(SVG, tag.slice(4)) : document.createElement(tag)
    for (const [name, value] of Object.entries(attributes ?? {})) made.setAttribute(name, value)
    made.append(...children)
    return made
  }

  const plural = (number, unit) => `${NUMBER.format(number)} ${unit}${number === 1 ? '' : 's'}`

  function span(seconds) {
    if (seconds < 60) return plural(Math.floor(seconds), 'second')
    if (seconds < 7200) return plural(Math.floor(seconds / 60), 'minute')
    if (seconds < 172800) return plural(Math.floor(seconds / 3600), 'hour')
    return plural(Math.floor(seconds / 86400), 'day')
  }

  const ageOf = (edition) => (Date.now() - Date.parse(edition.published_at)) / 1000

  // The banner

  function banner() {
    if (!data) {
      if (!failed) return
      say('stale', 'No numbers', 'The numbers could not be read.', 'This page tries again by itself.', [])
      return
    }
    const age = ageOf(data)
    const isStale = age > data.stale_after_seconds
    const at = `${MOMENT.format(new Date(data.published_at))}, your time`
    const retry = failed ? ' The last try to read newer ones failed.' : ''
    document.documentElement.classList.toggle('is-stale', isStale)
    if (isStale) {
      const sentence = `These numbers are ${span(age)} old, so how things are now is not known.`
      say('stale', WORDS.stale, sentence, `Counted ${at}. Then it was: ${data.sentence}${retry}`, [])
    } else if (age < -60) {
      say(data.state, WORDS[data.state], data.sentence, `Counted ${at}, which is still to come: is this clock right?`, data.notes)
    } else {
      const ago = age < 1 ? 'just now' : `${span(age)} ago`
      say(data.state, WORDS[data.state], data.sentence, `Counted ${ago}: ${at}.${retry}`, data.notes)
    }
  }

  function say(state, word, sentence, age, notes) {
    const now = JSON.stringify([state, word, sentence, notes])
    const line = $('banner').querySelector('.age')
    if (now === shown && line) {
      line.textContent = age
      return
    }
    shown = now
    document.title = `${word} · Status`
    $('banner').className = `banner ${state}`
    $('banner').replaceChildren(el('p', { class: 'pill' }, word), el('h1', {}, sentence))
    // Its age changes every second, which is nothing to be told of again and again.
    $('banner').append(el('p', { class: 'age', 'aria-live': 'off' }, age))
    if (notes.length) {
      $('banner').append(el('ul', { class: 'notes' }, ...notes.map((note) => el('li', { class: note.state }, note.text))))
    }
  }

  // The cards

  function card(title, aside, ...children) {
    const heading = el('h2', {}, el('span', {}, title))
    if (aside) heading.append(el('small', {}, aside))
    return el('section', { class: 'card' }, heading, ...children)
  }

  function rows(...pairs) {
    const made = pairs.map(([name, value, key]) => {
      const term = el('dt', {})
      if (key) term.append(el('span', { class: `key fill-${key}`, 'aria-hidden': 'true' }))
      term.append(name)
      return el('div', {}, term, el('dd', {}, typeof value === 'number' ? NUMBER.format(value) : value))
    })
    return el('dl', { class: 'rows' }, ...made)
  }

  function figures(...pairs) {
    const made = pairs.map(([name, value]) =>
      el('div', {}, el('dt', {}, name), el('dd', {}, typeof value === 'number' ? NUMBER.format(value) : value)),
    )
    return el('dl', { class: 'figures' }, ...made)
  }

  // Parts of a whole: a bar, and the numbers under it.
  function parts(title, none, ...pairs) {
    const total = pairs.reduce((sum, [, value]) => sum + value, 0)
    if (!total) return card(title, '', el('p', { class: 'empty' }, none))
    const bar = el('svg:svg', { class: 'stack', viewBox: '0 0 100 6', preserveAspectRatio: 'none', 'aria-hidden': 'true' })
    let x = 0
    for (const [, value, key] of pairs) {
      const width = (100 * value) / total
      bar.append(el('svg:rect', { class: `fill-${key}`, x, y: 0, width, height: 6 }))
      x += width
    }
    return card(title, `${NUMBER.format(total)} in all`, bar, rows(...pairs))
  }

  function jobs() {
    const { jobs: found } = data
    const chart = el('div', { class: 'chart' })
    const made = card(
      'Jobs',
      'by the hour; the last one is still on',
      figures(
        ['Waiting', found.waiting],
        ['Running', found.running],
        ['Oldest waiting', found.oldest_waiting_seconds === null ? 'none' : span(found.oldest_waiting_seconds)],
        ['Failed, last hour', found.failure_rate === null ? 'none ended' : `${(100 * found.failure_rate).toFixed(1)} %`],
        ['Dead letters, 24 h', found.dead_letters_last_day],
      ),
      chart,
      el(
        'ul',
        { class: 'legend', 'aria-hidden': 'true' },
        el('li', {}, el('span', { class: 'key line fill-ink' }), 'arrived'),
        el('li', {}, el('span', { class: 'key fill-teal' }), 'completed'),
        el('li', {}, el('span', { class: 'key fill-red' }), 'failed'),
        el('li', {}, el('span', { class: 'key fill-grey' }), 'cancelled'),
      ),
      table(found.hours),
    )
    made.classList.add('wide')
    watcher.disconnect()
    watcher.observe(chart)
    return made
  }

  function table(hours) {
    const names = ['arrived', 'completed', 'failed', 'cancelled']
    const head = el('tr', {}, ...['hour', ...names].map((name) => el('th', { scope: 'col' }, name)))
    const lines = [...hours].reverse().map((hour) => {
      const cells = names.map((name) => el('td', {}, NUMBER.format(hour[name])))
      return el('tr', {}, el('td', {}, CLOCK.format(new Date(hour.start))), ...cells)
    })
    const made = el('table', {}, el('thead', {}, head), el('tbody', {}, ...lines))
    return el('details', {}, el('summary', {}, 'The same as a table'), el('div', { class: 'scroll' }, made))
  }

  // Drawn anew for each width, so that its letters are never stretched.
  const watcher = new ResizeObserver(([entry]) => draw(entry.target, data.jobs.hours))

  function draw(place, hours) {
    const width = Math.max(240, place.clientWidth)
    const [height, left, bottom, top] = [176, 34, 22, 8]
    const ended = (hour) => hour.completed + hour.failed + hour.cancelled
    const most = ceiling(Math.max(...hours.map((hour) => Math.max(hour.arrived, ended(hour)))))
    const step = (width - left) / hours.length
    const y = (value) => top + (height - top - bottom) * (1 - value / most)
    const isAny = hours.some((hour) => hour.arrived || ended(hour))
    const label = isAny
      ? 'Jobs that arrived and ended in each of the last 24 hours; the table below has the numbers.'
      : 'No jobs in the last 24 hours.'
    const svg = el('svg:svg', { width, height, role: 'img', 'aria-label': label })
    for (const value of [0, most / 2, most]) {
      svg.append(el('svg:line', { class: 'grid', x1: left, x2: width, y1: y(value), y2: y(value) }))
      svg.append(el('svg:text', { x: left - 6, y: y(value) + 4, 'text-anchor': 'end' }, short(value)))
    }
    const every = width < 520 ? 6 : 3
    const points = []
    hours.forEach((hour, index) => {
      const x = left + index * step
      let floor = 0
      for (const [name, key] of [['completed', 'teal'], ['failed', 'red'], ['cancelled', 'grey']]) {
        const [from, to] = [y(floor), y(floor + hour[name])]
        floor += hour[name]
        const now = index === hours.length - 1 ? ' now' : ''
        if (hour[name]) svg.append(el('svg:rect', { class: `fill-${key}${now}`, x: x + step * 0.15, y: to, width: step * 0.7, height: from - to }))
      }
      points.push(`${x + step / 2},${y(hour.arrived)}`)
      if (index % every === 0) svg.append(el('svg:text', { x, y: height - 4 }, CLOCK.format(new Date(hour.start))))
    })
    svg.append(el('svg:polyline', { class: 'arrived', points: points.slice(0, -1).join(' ') }))
    svg.append(el('svg:polyline', { class: 'arrived now', points: points.slice(-2).join(' ') }))
    hours.forEach((hour, index) => {
      const said = `${CLOCK.format(new Date(hour.start))}: ${hour.arrived} arrived, ${hour.completed} completed, ${hour.failed} failed, ${hour.cancelled} cancelled`
      const hit = el('svg:rect', { class: 'hit', x: left + index * step, y: top, width: step, height: height - top - bottom })
      hit.append(el('svg:title', {}, said))
      svg.append(hit)
    })
    if (!isAny) svg.append(el('svg:text', { x: (left + width) / 2, y: y(most * 0.7), 'text-anchor': 'middle' }, label))
    place.replaceChildren(svg)
  }

  // The next number that is nice to have at the top of an axis, and halves well.
  function ceiling(value) {
    const size = 10 ** Math.floor(Math.log10(Math.max(value, 1)))
    const factors = size < 10 ? [2, 4, 6, 8, 10] : [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10]
    return factors.map((factor) => factor * size).find((nice) => nice >= value)
  }

  const short = (value) => (value >= 1e6 ? `${value / 1e6}M` : value >= 1e3 ? `${value / 1e3}k` : `${value}`)

  function cards() {
    const { accounts, seeds, leases, captures, runs, spend, graph, sources, platforms } = data
    const isOpen = $('cards').querySelector('details')?.open
    const money = spend ? [['Spent today (UTC)', MONEY.format(spend.today_micros / 1e6)]] : []
    $('cards').replaceChildren(
      jobs(),
      parts(
        'Accounts',
        'There are no accounts.',
        ['Free', accounts.free, 'teal'],
        ['Held', accounts.held, 'blue'],
        ['Cooling', accounts.cooling, 'amber'],
        ['Blocked', accounts.blocked, 'red'],
        ['Inactive', accounts.inactive, 'grey'],
      ),
      parts(
        'Seeds',
        'There are no seeds.',
        ['Resting', seeds.resting, 'teal'],
        ['Held', seeds.held, 'blue'],
        ['Due', seeds.due, 'amber'],
        ['Overdue', seeds.overdue, 'red'],
        ['Off', seeds.off, 'grey'],
      ),
      card(
        'Leases',
        'live now',
        rows(['Accounts', leases.account], ['Seeds', leases.seed], ['Tasks', leases.task], ['Captures', leases.capture]),
      ),
      card(
        'Runs',
        '',
        rows(['Running', runs.running], ['Waiting', runs.waiting], ['Paused', runs.paused], ['Stopped by trouble', runs.stopped], ...money),
      ),
      card(
        'Collected',
        '',
        rows(['Captures, last day', captures.received_last_day], ['Captures waiting', captures.waiting], ['Entities', graph.entities], ['Records', graph.records]),
      ),
      card(
        'Sources and platforms',
        '',
        rows(
          ['Sources fresh', `${NUMBER.format(sources.fresh)} of ${NUMBER.format(sources.known)}`],
          ['Sources being read', sources.sweeping],
          ['Platforms paused', platforms.paused],
          ['Platforms resting', platforms.resting],
        ),
      ),
    )
    if (isOpen) $('cards').querySelector('details').open = true
    const every = data.interval_seconds ? `published every ${span(data.interval_seconds).replace(/^1 /, '')}` : 'published by hand'
    $('footer').replaceChildren(
      `Edition ${NUMBER.format(data.edition)}, ${every}. Everything here is counted over the whole installation. `,
      el('a', { href: DATA }, 'The numbers as JSON'),
    )
  }

  // Reading

  async function read() {
    try {
      const answer = await fetch(DATA, { cache: 'no-cache' })
      if (!answer.ok) throw new Error(String(answer.status))
      const found = await answer.json()
      if (found.schema !== 'status' || found.version !== 1) throw new Error('another schema')
      const isNew = !data || found.published_at !== data.published_at
      data = found
      failed = false
      if (isNew) cards()
    } catch {
      failed = true
    }
    banner()
    const wait = Math.min(LONGEST_WAIT_S, Math.max(SHORTEST_WAIT_S, data?.interval_seconds || 0))
    clearTimeout(next)
    next = setTimeout(read, wait * 1000)
  }

  let next
  setInterval(banner, 1000)
  document.addEventListener('visibilitychange', () => document.hidden || read())
  read()
}
