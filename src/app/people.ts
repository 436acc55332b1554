/**
 * What people do to one agent past CAO: a text that CAO did not type, an interrupt. It claims no more than is known: that
 * the text was not ours, which attached clients were used about then, and whose key went before the interrupt.
 */
import type { TerminalId } from '../domain/ids.ts'
import type { CoreContext } from './core-context.ts'

/** An interrupt this long after a key of ours came from that key. Units: ms. */
const interruptWithinMs = 15_000
/** A client that was used in this time before the text was taken may have typed it. Units: ms. */
const typingWithinMs = 60_000

export type Interrupt = { readonly terminalId: TerminalId; readonly by: string | undefined; readonly detail: string }

export type PeopleParts = {
  readonly id: TerminalId
  readonly whoTyped: (sinceMs: number, then: (clients: readonly string[]) => void) => void
  readonly onInterrupted: (interrupt: Interrupt) => void
  readonly onTyped: (id: TerminalId) => void
}

export class People {
  readonly #context: CoreContext
  readonly #parts: PeopleParts
  #interrupting: { readonly by: string | undefined; readonly atMs: number } | undefined
  #typedAtMs: number | undefined

  constructor(context: CoreContext, parts: PeopleParts) {
    this.#context = context
    this.#parts = parts
  }

  /** When a text was taken last that is not ours, in this life of the server. */
  get typedAtMs(): number | undefined {
    return this.#typedAtMs
  }

  get isInterrupting(): boolean {
    const key = this.#interrupting
    return key !== undefined && this.#context.clock.nowMs() - key.atMs <= interruptWithinMs
  }

  /** A key that interrupts is about to be pressed for `by`, as the author of a message. */
  noteInterrupting(by: string | undefined): void {
    this.#interrupting = { by, atMs: this.#context.clock.nowMs() }
  }

  noteInterrupted(raw: string): void {
    const { clock } = this.#context
    const { id: terminalId, onInterrupted, whoTyped } = this.#parts
    const key = this.#interrupting
    const atMs = clock.nowMs()
    this.#interrupting = undefined
    const tell = (by: string | undefined, detail: string) => {
      this.#append({ type: 'turn.interrupted', terminalId, by, detail })
      onInterrupted({ terminalId, by, detail })
    }
    if (key !== undefined && atMs - key.atMs <= interruptWithinMs)
      return tell(key.by, `a key pressed through CAO (${raw})`)
    whoTyped(atMs - interruptWithinMs, (clients) =>
      clients.length === 0
        ? tell(undefined, `not through CAO (${raw})`)
        : tell('person/pane', `a person at the attached client ${clients.join(', ')} (${raw})`),
    )
  }

  /** The agent took a text that no message of ours has. */
  noteTyped(text: string): void {
    const { clock } = this.#context
    const { id: terminalId, whoTyped, onTyped } = this.#parts
    this.#typedAtMs = clock.nowMs()
    onTyped(terminalId)
    const chars = text.length
    whoTyped(this.#typedAtMs - typingWithinMs, (clients) =>
      this.#append({ type: 'person.typed', terminalId, clients, chars }),
    )
  }

  #append(body: Parameters<CoreContext['store']['events']['append']>[0]): void {
    const { store, clock, events } = this.#context
    events.announce(store.events.append(body, clock.nowMs()))
  }
}
