// Refusals of the server as errors the pages can show: a sentence, and the fields it points at.
import type { ProblemDocument } from './types'

type Fault = { pointer: string; detail: string }

export class Problem extends Error {
  readonly type: string
  readonly status: number
  readonly document: Partial<ProblemDocument>
  readonly faults: Fault[]

  constructor(status: number, document: Partial<ProblemDocument>) {
    super(document.detail ?? `The server answered with status ${status}.`)
    this.type = document.type ?? 'about:blank'
    this.status = status
    this.document = document
    this.faults = (document.errors ?? []).map(worded)
  }

  is(slug: string): boolean {
    return this.type === `/problems/${slug}`
  }

  /** An own member of the problem, when it is text: `reason`, `permission` … */
  member(name: string): string | null {
    const value = this.document[name]
    return typeof value === 'string' ? value : null
  }
}

/** The request never got an answer: no network, or no server. */
export class Unreachable extends Error {
  constructor() {
    super('The server cannot be reached. Check that it runs and that this machine has a connection to it.')
  }
}

/** A fault as people would say it: without regular expressions, and about the field rather than its type. */
function worded({ pointer, detail }: Fault): Fault {
  const isForm = /^(String should match pattern|It breaks the rule pattern)/.test(detail)
  const words = isForm
    ? 'This is not in the form the field takes.'
    : detail.replace(/^(Input|String|List|Value) should /, 'This should ')
  return { pointer, detail: words }
}

/** Whether the fault is about this field, or about one item of the list in it. */
function isAbout(fault: Fault, pointer: string): boolean {
  const list = fault.pointer.replace(/\/\d+$/, '')
  return fault.pointer === pointer || list === pointer
}

/** What is wrong with the field at `pointer`, or undefined. */
export function faultAt(error: unknown, pointer: string): string | undefined {
  if (!(error instanceof Problem)) return undefined
  return error.faults.find((fault) => isAbout(fault, pointer))?.detail
}

/** What to say above a form: everything that does not stand next to one of its fields. */
export function remainder(error: unknown, pointers: readonly string[]): string | null {
  if (!error) return null
  if (!(error instanceof Problem)) return sentence(error)
  if (error.faults.length === 0) return error.message
  const stray = error.faults.filter((fault) => !pointers.some((pointer) => isAbout(fault, pointer)))
  return stray.length > 0
    ? stray.map((fault) => `${fault.pointer || 'body'}: ${fault.detail}`).join('; ')
    : null
}

export function sentence(error: unknown): string {
  return error instanceof Error ? error.message : 'Something went wrong.'
}
