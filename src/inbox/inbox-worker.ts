/**
 * Delivers the queue of one terminal, one message at a time, in order. Rows say what to do; events only wake
 * it. What a crash left half done is settled first, by proof: see `settle`.
 */
import type { Clock } from '../async/clock.ts'
import { SignalLatch } from '../async/signal-latch.ts'
import { DeadlineError, deadlineSignal, sleep } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import { isRaw, type Message } from '../domain/message.ts'
import type { Log } from '../lib/log.ts'
import type { Store } from '../store/store.ts'
import { type AttemptContext, type AttemptOutcome, attemptDelivery, submitDraft } from './attempt.ts'
import type { Ladder } from './ladder.ts'
import type { Receiver } from './receiver.ts'
import { toTyped } from './typed-text.ts'
import { isStillUnseen, type Unseen } from './unseen-draft.ts'
import { findUrgent, refuseClass, type Urgent } from './urgency.ts'

/** The queue is looked at this often even when nothing woke the worker. */
const idleLookMs = 30_000
const heldLookMs = 1_000
/** After a fault of the backend; doubled each time. */
const faultPauseMs = 250
const faultPauseMaxMs = 15_000
/** Faults in a row that no silence explains, until the message is given up. */
export const faultsMax = 8
/** After a message was taken its turn must show within this time before the next one may go. */
const turnGraceMs = 3_000
/** One attempt in all: paste, draft, two Enters, late proof, with room for a slow backend. */
const attemptLimitMs = 120_000
const settleLimitMs = 120_000
/** How long the queue is held by a pasted text that the program has not shown; then it is taken for dropped. */
export const unseenHoldMs = 600_000

/** For an interrupted agent to come to rest; then its message is refused. */
const interruptLimitMs = 15_000
/** Interrupted turns whose texts may stand in the composer again. */
const interruptedMax = 10
const interruptLookMs = 100

const isPassing = (error: unknown): boolean => error instanceof AppError && error.row.retryable

export type InboxWorkerOptions = {
  /** What is typed in place of the first of the queue, at the moment when it can be; undefined: nothing, look anew. */
  readonly prepare?: (message: Message) => Message | undefined
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
  /** Attempts in a row at which the backend failed. */
  #faults = 0
  /** Pasted, and never shown by the program: whatever is typed now would stand behind it in one draft. */
  #unseen: Unseen | undefined

  constructor(options: InboxWorkerOptions) {
    this.#options = options
  }

  #prepare(message: Message): Message | undefined {
    const { prepare } = this.#options
    return prepare === undefined ? message : prepare(message)
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
    await this.#findUnseen(signal)
    while (!signal.aborted) {
      if (this.#unseen !== undefined && (await this.#isHeldByUnseen(this.#unseen, signal))) {
        this.#holdWhy = 'an earlier text may still stand in the input of the program; look at the pane'
        await this.#latch.wait(clock, heldLookMs, signal)
        continue
      }
      const urgent = findUrgent(store.messages.listUrgent(receiver.id), receiver.isBusy())
      const message = urgent?.message ?? store.messages.nextQueued(receiver.id)
      if (message === undefined) {
        this.#holdWhy = undefined
        await this.#latch.wait(clock, idleLookMs, signal)
        continue
      }
      if (urgent !== undefined && !(await this.#makeWay(urgent, signal))) continue
      const gate = receiver.gate()
      const isAtWork = urgent?.deliveryClass === 'gap' && receiver.isBusy()
      if (gate.kind !== 'open' && !isAtWork) {
        this.#holdWhy = gate.why
        await this.#latch.wait(clock, idleLookMs, signal)
        continue
      }
      const next = urgent === undefined ? this.#prepare(message) : message
      if (next === undefined) continue
      const turns = receiver.turnsEnded()
      const outcome = await this.#guard(next, signal, attemptLimitMs, (context) =>
        attemptDelivery(next, { ...context, isAtWork, listInterrupted: () => this.#listInterrupted() }),
      )
      if (outcome.kind === 'unseen') this.#unseen = { message: next, turns, atMs: clock.nowMs() }
      if (outcome.kind === 'faulted') await this.#pauseAfterFault(next, outcome, signal)
      else await this.#afterAttempt(outcome, turns, signal)
    }
  }

  /**
   * Interrupts what the agent does for a message that wants it; one that waits for an answer is left alone, since an interrupt would
   * refuse what it asks. False: the message ended, or must wait, and the queue is looked at anew.
   */
  async #makeWay({ message, deliveryClass }: Urgent, signal: AbortSignal): Promise<boolean> {
    const { receiver, ladder, clock, log } = this.#options
    const unserved = refuseClass(deliveryClass, receiver.quirks)
    if (unserved !== undefined) {
      ladder.step(message.id, 'refuse', unserved)
      return false
    }
    if (deliveryClass !== 'interrupt' || !receiver.isBusy()) return true
    using deadline = deadlineSignal(clock, interruptLimitMs, 'the end of an interrupted turn', signal)
    try {
      const seen = await receiver.look(deadline)
      const hasDraft = seen !== 'gone' && !['empty', 'absent'].includes(seen.reading.composer.kind)
      if (seen === 'gone' || hasDraft || !receiver.isBusy()) {
        // Its turn would be cut for a message that could not be typed then.
        this.#holdWhy = hasDraft ? 'somebody has a draft in the composer' : undefined
        await this.#latch.wait(clock, heldLookMs, signal)
        return false
      }
      log.write('info', 'agent interrupted for a message', { receiverId: receiver.id, messageId: message.id })
      await receiver.press(receiver.quirks.interrupt, deadline)
      while (receiver.isBusy()) {
        deadline.signal.throwIfAborted()
        await this.#latch.wait(clock, interruptLookMs, deadline.signal)
      }
      return true
    } catch (error) {
      if (signal.aborted) return false
      const why = error instanceof Error ? error.message : String(error)
      if (error instanceof DeadlineError) {
        ladder.step(message.id, 'refuse', `the agent was interrupted and went on for ${interruptLimitMs / 1_000} s`)
      } else await this.#pauseAfterFault(message, { kind: 'faulted', why, isPassing: isPassing(error) }, signal)
      return false
    }
  }

  #listInterrupted(): readonly string[] {
    const { store, receiver } = this.#options
    const ended = store.messages.search({ receiverId: receiver.id, states: ['answered'], limit: interruptedMax })
    return ended.filter(({ turnOutcome }) => turnOutcome === 'interrupted').map((message) => toTyped(message, receiver))
  }

  /** Again, a little later each time; a fault that does not pass ends the message, and its sender is told. */
  async #pauseAfterFault(
    message: Message,
    fault: Extract<AttemptOutcome, { kind: 'faulted' }>,
    signal: AbortSignal,
  ): Promise<void> {
    const { ladder, clock } = this.#options
    this.#faults++
    this.#holdWhy = fault.why
    if (!fault.isPassing && this.#faults >= faultsMax) {
      ladder.step(message.id, 'give_up', `${this.#faults} attempts failed: ${fault.why}`)
      this.#faults = 0
      return
    }
    const pauseMs = Math.min(faultPauseMaxMs, faultPauseMs * 2 ** (this.#faults - 1))
    await sleep(clock, pauseMs, signal).catch(() => undefined)
  }

  async #afterAttempt(outcome: AttemptOutcome, turns: number, signal: AbortSignal): Promise<void> {
    const { receiver, clock, log } = this.#options
    this.#faults = 0
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
      if (error instanceof DeadlineError) {
        const hasLapsed = ladder.step(message.id, 'lapse', why) !== undefined
        return hasLapsed ? { kind: 'unseen' } : { kind: 'held', why }
      }
      await this.#settleAll(signal, message.id)
      await this.#findUnseen(signal)
      return { kind: 'faulted', why, isPassing: isPassing(error) }
    }
  }

  /** After a restart or a fault: the last paste may be that of a message whose outcome nobody knows. */
  async #findUnseen(signal: AbortSignal): Promise<void> {
    const { receiver, store, clock, log } = this.#options
    const open = store.messages.list(receiver.id, { limit: 50, states: ['unconfirmed'] })
    if (open.length === 0 || signal.aborted) return
    using deadline = deadlineSignal(clock, settleLimitMs, 'the last paste', signal)
    try {
      const mark = await receiver.lastPasteMark(deadline)
      const message = open.find(({ token }) => token === mark)
      if (message === undefined || (await receiver.findAccepted(message.token, deadline)) === 'yes') return
      this.#unseen ??= { message, turns: receiver.turnsEnded(), atMs: message.updatedAtMs }
    } catch (error) {
      if (!signal.aborted) log.write('warn', 'last paste not known', { receiverId: receiver.id, error: String(error) })
    }
  }

  /** Whether the queue must wait for it; what has appeared meanwhile is submitted. */
  async #isHeldByUnseen(unseen: Unseen, signal: AbortSignal): Promise<boolean> {
    const { store, receiver, clock } = this.#options
    const { message } = unseen
    const isTaken = store.messages.find(message.id)?.state !== 'unconfirmed'
    if (isTaken || clock.nowMs() - unseen.atMs > unseenHoldMs) {
      this.#unseen = undefined
      return false
    }
    const typed = toTyped(message, receiver)
    const outcome = await this.#guard(message, signal, attemptLimitMs, async (context) => {
      const fate = await isStillUnseen(unseen, typed, context)
      if (fate === 'appeared') {
        return submitDraft(message, typed, receiver.turnsEnded(), { ...context, isAtWork: receiver.isBusy() })
      }
      return fate === 'unseen' ? { kind: 'unseen' } : { kind: 'ended' }
    })
    if (outcome.kind === 'unseen' || outcome.kind === 'held' || outcome.kind === 'faulted') return true
    this.#unseen = undefined
    await this.#afterAttempt(outcome, unseen.turns, signal)
    return false
  }

  /** Settles what stands between `leased` and `confirmed`, of one message or of all. */
  async #settleAll(signal: AbortSignal, only?: Message['id']): Promise<void> {
    const { receiver, store } = this.#options
    const open = store.messages.list(receiver.id, { limit: 1_000, states: ['leased', 'typing', 'typed'] })
    for (const message of open) {
      if (signal.aborted) return
      if (only !== undefined && message.id !== only) continue
      // It moves with its digest.
      if (message.carriedBy !== undefined) continue
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
    const typed = toTyped(message, receiver)
    try {
      if (!isRaw(message) && (await receiver.findAccepted(message.token, deadline)) === 'yes') {
        const why = 'the agent had recorded it before the restart'
        ladder.step(message.id, 'confirm', why, { proof: 'transcript' })
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
      const isAtWork = receiver.isBusy()
      const context = { receiver, ladder, clock, waiting: deadline, mayBeTaken: true, isAtWork }
      await submitDraft(message, typed, receiver.turnsEnded(), context)
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
