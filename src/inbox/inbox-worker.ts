/**
 * Delivers the queue of one terminal, one message at a time, in order. Rows say what to do; events only wake
 * it. What a crash left half done is settled first, by proof: see `settle`.
 */
import type { Clock } from '../async/clock.ts'
import { SignalLatch } from '../async/signal-latch.ts'
import { DeadlineError, deadlineSignal } from '../async/wait.ts'
import { formatTyped, type Message } from '../domain/message.ts'
import type { Log } from '../lib/log.ts'
import type { Store } from '../store/store.ts'
import { type AttemptContext, type AttemptOutcome, attemptDelivery, submitDraft } from './attempt.ts'
import type { Ladder } from './ladder.ts'
import type { Receiver } from './receiver.ts'
import { sanitizeTyped } from './typed-text.ts'

/** The queue is looked at this often even when nothing woke the worker. */
const idleLookMs = 30_000
const heldLookMs = 1_000
/** After a message was taken its turn must show within this time before the next one may go. */
const turnGraceMs = 3_000
/** One attempt in all: paste, draft, two Enters, late proof, with room for a slow backend. */
const attemptLimitMs = 120_000
const settleLimitMs = 60_000

export type InboxWorkerOptions = {
  readonly receiver: Receiver
  readonly store: Store
  readonly ladder: Ladder
  readonly clock: Clock
  readonly log: Log
}

export class InboxWorker {
  readonly #options: InboxWorkerOptions
  readonly #latch = new SignalLatch()
  /** Why the queue does not move, for `explain`. */
  #holdWhy: string | undefined

  constructor(options: InboxWorkerOptions) {
    this.#options = options
  }

  get holdWhy(): string | undefined {
    return this.#holdWhy
  }

  /** Something may have changed: a message was queued, the status moved. */
  wake(): void {
    this.#latch.raise()
  }

  /** Runs until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { receiver, store, clock } = this.#options
    await this.#settleAll(signal)
    while (!signal.aborted) {
      const message = store.messages.nextQueued(receiver.id)
      if (message === undefined) {
        this.#holdWhy = undefined
        await this.#latch.wait(clock, idleLookMs, signal)
        continue
      }
      const gate = receiver.gate()
      if (gate.kind !== 'open') {
        this.#holdWhy = gate.why
        await this.#latch.wait(clock, idleLookMs, signal)
        continue
      }
      const outcome = await this.#guard(message, signal, attemptLimitMs, (context) => attemptDelivery(message, context))
      await this.#afterAttempt(outcome, signal)
    }
  }

  async #afterAttempt(outcome: AttemptOutcome, signal: AbortSignal): Promise<void> {
    const { receiver, clock, log } = this.#options
    if (outcome.kind === 'held') {
      if (outcome.why !== this.#holdWhy)
        log.write('info', 'delivery held', { receiverId: receiver.id, why: outcome.why })
      this.#holdWhy = outcome.why
      await this.#latch.wait(clock, heldLookMs, signal)
      return
    }
    this.#holdWhy = undefined
    if (outcome.kind !== 'confirmed') return
    // The turn of the message just taken must have been seen, else an old "idle" would let the next one in.
    const turns = receiver.turnsEnded()
    const endMs = clock.monotonicMs() + turnGraceMs
    while (!signal.aborted && clock.monotonicMs() < endMs && !receiver.isBusy() && receiver.turnsEnded() === turns) {
      await this.#latch.wait(clock, 100, signal)
    }
  }

  /** Runs an attempt within its limit; a failure of the backend leaves the message to `settle`, never to chance. */
  async #guard(
    message: Message,
    signal: AbortSignal,
    limitMs: number,
    work: (context: AttemptContext) => Promise<AttemptOutcome>,
  ): Promise<AttemptOutcome> {
    const { receiver, ladder, clock, log } = this.#options
    using deadline = deadlineSignal(clock, limitMs, `the delivery of message ${message.id}`, signal)
    try {
      return await work({ receiver, ladder, clock, waiting: deadline })
    } catch (error) {
      if (signal.aborted) return { kind: 'ended' }
      const why = error instanceof Error ? error.message : String(error)
      log.write('warn', 'delivery attempt failed', { messageId: message.id, receiverId: receiver.id, error: why })
      if (!(error instanceof DeadlineError)) await this.#settleAll(signal, message.id)
      else ladder.step(message.id, 'lapse', why)
      return { kind: 'held', why }
    }
  }

  /** Settles what stands between `leased` and `confirmed`, of one message or of all. */
  async #settleAll(signal: AbortSignal, only?: Message['id']): Promise<void> {
    const { receiver, store } = this.#options
    const open = store.messages.list(receiver.id, { limit: 1_000, states: ['leased', 'typing', 'typed'] })
    for (const message of open) {
      if (signal.aborted) return
      if (only !== undefined && message.id !== only) continue
      if (message.state === 'leased')
        this.#options.ladder.step(message.id, 'release', 'the server was restarted before typing')
      else await this.#settle(message, signal)
    }
  }

  /**
   * A message that was being typed when the server died. The agent's record confirms it; the mark that every paste
   * leaves proves whether the text reached the terminal: if not, it goes back to the queue; if so, our draft may
   * still get its Enter, and otherwise the outcome is unknown and said so.
   */
  async #settle(message: Message, signal: AbortSignal): Promise<void> {
    const { receiver, ladder, clock, log } = this.#options
    using deadline = deadlineSignal(clock, settleLimitMs, `the fate of message ${message.id}`, signal)
    const typed = sanitizeTyped(formatTyped(message))
    try {
      if (message.kind !== 'input' && (await receiver.findAccepted(message.token, deadline)) === 'yes') {
        ladder.step(message.id, 'confirm', 'the agent had recorded it before the restart')
        return
      }
      if (message.state === 'typing') {
        if ((await receiver.lastPasteMark(deadline)) !== message.token) {
          // A pane that is gone has no mark either, and proves nothing.
          if ((await receiver.look(deadline)) === 'gone') {
            ladder.step(message.id, 'lapse', 'the terminal ended while the message was typed')
            return
          }
          ladder.step(message.id, 'prove_absent', 'the paste never reached the terminal')
          return
        }
        ladder.step(message.id, 'type', 'the paste had reached the terminal')
      }
      await submitDraft(message, typed, receiver.turnsEnded(), { receiver, ladder, clock, waiting: deadline })
    } catch (error) {
      if (signal.aborted) return
      log.write('warn', 'fate of a message not settled', { messageId: message.id, error: String(error) })
      ladder.step(
        message.id,
        'lapse',
        'the server ended while it was typed, and nothing proves whether it arrived. Look at the pane',
      )
    }
  }
}
