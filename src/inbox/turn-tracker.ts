/**
 * Ties messages to turns: the agent's own record of an accepted text confirms a message; the turn that follows
 * is that message's turn; its end carries the answer. Works on late proof too, and after a restart.
 */

import type { TerminalId } from '../domain/ids.ts'
import { formatTyped, isRaw, type Message, parseHeader } from '../domain/message.ts'
import type { EvidenceSource, TurnOutcome } from '../domain/status.ts'
import type { Store } from '../store/store.ts'
import type { Ladder } from './ladder.ts'
import { isSameInput, sanitizeTyped } from './typed-text.ts'

/** How many unanswered messages of one terminal are looked at when a turn ends. */
const openTurnsMax = 200

export type TurnTrackerOptions = { readonly id: TerminalId; readonly store: Store; readonly ladder: Ladder }

export class TurnTracker {
  readonly #options: TurnTrackerOptions
  /** Messages of the turn that ended last. */
  #lastEnded: readonly Message['id'][] = []

  constructor(options: TurnTrackerOptions) {
    this.#options = options
  }

  /** The agent recorded that it took `text`; `isWorking`: and works on it. Returns the message that this proves, if it is one of ours. */
  noteAccepted(text: string, source: EvidenceSource, isWorking = false): Message | undefined {
    const message = this.#findTyped(text)
    if (message === undefined) return undefined
    const why = `${source}: the agent recorded the text`
    const steps =
      isWorking && message.kind !== 'command' ? (['confirm', 'start_turn'] as const) : (['confirm'] as const)
    return this.#options.ladder.stepAll(message.id, steps, why, { proof: source })
  }

  #findTyped(text: string): Message | undefined {
    const { id, store } = this.#options
    const open = store.messages.list(id, { limit: openTurnsMax, states: ['typing', 'typed', 'unconfirmed'] })
    const header = parseHeader(text)
    if (header !== undefined) {
      const named = open.find((message) => message.token === header.token)
      if (named !== undefined) return named
    }
    return open.find((message) => isRaw(message) && isSameInput(text, sanitizeTyped(formatTyped(message))))
  }

  /** Whether a text that the agent took is that of a message that was confirmed before. */
  isOurs(text: string): boolean {
    const { id, store } = this.#options
    const header = parseHeader(text)
    if (header !== undefined && store.messages.findByToken(header.token as Message['token']) !== undefined) return true
    const newest = store.messages.findNewestTaken(id)
    return [...this.listInTurn(), ...(newest === undefined ? [] : [newest])].some(
      (message) => isRaw(message) && isSameInput(text, sanitizeTyped(formatTyped(message))),
    )
  }

  /** A turn runs: the confirmed messages are being worked on. */
  noteTurnStarted(): void {
    for (const message of this.#list(['confirmed'])) this.#options.ladder.step(message.id, 'start_turn')
  }

  /** A turn ended: what was being worked on is answered. Returns those messages, oldest first. */
  noteTurnEnded(outcome: TurnOutcome): readonly Message[] {
    const answered: Message[] = []
    const { messages } = this.#options.store
    for (const message of this.#list(['confirmed', 'turn_started'])) {
      const moved = this.#options.ladder.step(message.id, 'answer', undefined, { turnOutcome: outcome })
      if (moved !== undefined) answered.push(moved)
    }
    // A screen at rest does not tell how the turn ended; the program's own word on it comes a moment later.
    if (answered.length > 0) this.#lastEnded = answered.map(({ id }) => id)
    else if (outcome === 'interrupted') for (const id of this.#lastEnded) messages.setTurnOutcome(id, outcome)
    return answered
  }

  /** Messages that the agent took and has not answered. */
  listInTurn(): readonly Message[] {
    return this.#list(['confirmed', 'turn_started'])
  }

  #list(states: readonly Message['state'][]): readonly Message[] {
    const { id, store } = this.#options
    // A command is no prompt: no turn is its.
    return store.messages.list(id, { limit: openTurnsMax, states }).filter(({ kind }) => kind !== 'command')
  }
}
