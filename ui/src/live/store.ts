// How news reach this tab: by the socket, by polling where there is none, or not at all because somebody said so.
import { useSyncExternalStore } from 'react'
import { queryClient } from '@/api/client'
import { COUNTS, HISTORY, LIST, one } from '@/runs/keys'
import type { Run } from '@/runs/types'
import { apply } from './applying'
import { follow } from './feed'
import { type Message, read } from './messages'
import { askEvents, pause } from './polling'
import { currentRhythm, subscribe } from './rhythm'
import { listen, type Topic } from './socket'

export type Mode = 'connecting' | 'live' | 'polling' | 'stale' | 'paused'
type Freshness = { mode: Mode; heardAt: number }

const FAILURES_BEFORE_POLLING = 2
const FIRST_RETRY_MS = 5_000
const LAST_RETRY_MS = 60_000
const BETWEEN_MS = 5_000
const FRAME_MS = 100

let freshness: Freshness = {
  mode: currentRhythm() === 'off' ? 'paused' : 'connecting',
  heardAt: Date.now(),
}
let topic: string | null = null
let isWanted = false
let engine: AbortController | null = null
let frame: Message[] = []
const listeners = new Set<() => void>()

function become(mode: Mode, isHeard = true) {
  const heardAt = isHeard ? Date.now() : freshness.heardAt
  const isSame = freshness.mode === mode
  freshness = { mode, heardAt }
  // The time alone is read by whoever looks at a clock anyway.
  if (!isSame) for (const tell of listeners) tell()
}

export function useFreshness(): Freshness {
  return useSyncExternalStore(
    (tell) => {
      listeners.add(tell)
      return () => listeners.delete(tell)
    },
    () => freshness,
  )
}

export function heardAt(): number {
  return freshness.heardAt
}

/** Whether what is shown is what is: clocks stand still while it is not. */
export function isFresh(mode: Mode): boolean {
  return mode === 'live' || mode === 'polling'
}

/** Begin to listen; returns how to end it. */
export function begin(): () => void {
  isWanted = true
  restart()
  return () => {
    isWanted = false
    engine?.abort()
  }
}

/** Look at one run, or at all of them. */
export function look(run: string | null) {
  if (run) follow(run)
  if (run === topic) return
  topic = run
  restart()
}

/** Somebody chose another rhythm. */
function followRhythm() {
  for (const query of queryClient.getQueryCache().getAll()) {
    // How often each asks is worked out anew only when its options are set.
    for (const observer of query.observers) observer.setOptions(observer.options)
  }
  if (currentRhythm() === 'off') {
    engine?.abort()
    become('paused', false)
    return
  }
  if (freshness.mode === 'paused') {
    become('connecting', false)
    // What happened while the page stood still.
    queryClient.invalidateQueries()
  }
  restart()
}
subscribe(followRhythm)

function restart() {
  engine?.abort()
  if (!isWanted || freshness.mode === 'paused') return
  engine = new AbortController()
  work(topic, engine.signal)
}

async function work(run: string | null, signal: AbortSignal) {
  let failures = 0
  while (!signal.aborted && currentRhythm() !== 'live') await askInTurn(run, signal)
  while (!signal.aborted) {
    const hasLived = await converse(run, signal)
    if (signal.aborted) return
    failures = hasLived ? 0 : failures + 1
    if (failures < FAILURES_BEFORE_POLLING) {
      if (hasLived) become('stale', false)
      await pause(FIRST_RETRY_MS / 10, signal)
    } else {
      const wait = FIRST_RETRY_MS * 2 ** (failures - FAILURES_BEFORE_POLLING)
      await poll(run, Math.min(wait, LAST_RETRY_MS), signal)
    }
  }
}

/** By the clock, as somebody chose: no socket, and no question that waits. */
async function askInTurn(run: string | null, signal: AbortSignal) {
  try {
    const known = run && queryClient.getQueryData<Run>(one(run))?.last_seq
    if (run && typeof known === 'number') show(await askEvents(run, known, 0, signal))
    else await refresh()
    if (!signal.aborted) become('polling')
  } catch {
    if (!signal.aborted) become('stale', false)
  }
  await pause(Number(currentRhythm()) * 1000 || FIRST_RETRY_MS, signal)
}

/** Listen at the socket until it ends; whether it ever said something. */
async function converse(run: string | null, signal: AbortSignal): Promise<boolean> {
  let isOpen = false
  const onOpen = () => {
    isOpen = true
    if (signal.aborted) return
    become('live')
    // What happened while nobody listened is not told to those who listen to all.
    if (!run) refresh()
  }
  const onMessage = (text: unknown) => {
    if (signal.aborted) return
    become('live')
    const message = read(text)
    if (message) show([message])
  }
  try {
    await listen(subscription(run), { onOpen, onMessage, signal })
  } catch {
    return isOpen
  }
  return isOpen
}

function subscription(run: string | null): Topic {
  if (!run) return {}
  const here = queryClient.getQueryData<Run>(one(run))
  return here ? { run_id: run, since: here.last_seq } : { run_id: run }
}

async function poll(run: string | null, forMs: number, signal: AbortSignal) {
  const until = Date.now() + forMs
  // What was told is on the page a little later; it is not asked for again meanwhile.
  let told = 0
  while (!signal.aborted && Date.now() < until) {
    // The first question is answered at once: it tells whether this way works.
    const patience = freshness.mode === 'polling' ? until - Date.now() : 0
    try {
      if (run) {
        const known = queryClient.getQueryData<Run>(one(run))?.last_seq
        if (known === undefined) {
          await pause(200, signal)
          continue
        }
        const messages = await askEvents(run, Math.max(told, known), patience, signal)
        told = messages.at(-1)?.seq ?? told
        show(messages)
      } else {
        await refresh()
      }
      if (signal.aborted) return
      become('polling')
      // Without a run to look at there is nothing that the server could wait for.
      if (!run) await pause(Math.min(BETWEEN_MS, patience), signal)
    } catch {
      if (signal.aborted) return
      become('stale', false)
      await pause(FIRST_RETRY_MS / 2, signal)
    }
  }
}

function refresh(): Promise<void> {
  return Promise.all(
    [COUNTS, HISTORY, LIST].map((key) => queryClient.invalidateQueries({ queryKey: key })),
  ).then(() => undefined)
}

/** Several messages make one picture: a busy run must not paint the page for each. */
function show(messages: Message[]) {
  if (frame.length === 0 && messages.length > 0) setTimeout(paint, FRAME_MS)
  frame.push(...messages)
}

function paint() {
  const messages = frame
  frame = []
  apply(queryClient, messages)
}
