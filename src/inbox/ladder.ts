/**
 * Moves a message along the delivery table: one transaction per move, row and event together, then the event
 * is announced. Everybody who waits for a message waits here.
 */
import type { Clock } from '../async/clock.ts'
import type { DeliveryStep } from '../domain/delivery.ts'
import type { DomainEvent } from '../domain/events.ts'
import type { MessageId } from '../domain/ids.ts'
import type { Message } from '../domain/message.ts'
import { Emitter } from '../lib/emitter.ts'
import type { Log } from '../lib/log.ts'
import type { MessageChange, Store } from '../store/store.ts'

/** What these say is found out again after a power cut: by the paste mark, the agent's record, its screen. */
const provableSteps: readonly DeliveryStep[] = ['lease', 'release', 'type', 'confirm', 'start_turn', 'answer']

export type LadderOptions = {
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  readonly announce: (event: DomainEvent) => void
}

export class Ladder {
  readonly #options: LadderOptions
  readonly #moved: Emitter<Message>

  constructor(options: LadderOptions) {
    this.#options = options
    this.#moved = new Emitter((error) => options.log.write('error', 'ladder listener failed', { error: String(error) }))
  }

  /** Every move of every message, after it is stored. */
  onMoved = (listener: (message: Message) => void): Disposable => this.#moved.on(listener)

  /** The moved message; undefined when the table or another mover forbids it. */
  step(
    id: MessageId,
    step: DeliveryStep,
    detail?: string,
    facts: Pick<MessageChange, 'proof' | 'turnOutcome'> = {},
  ): Message | undefined {
    return this.stepAll(id, [step], detail, facts)
  }

  /** Several steps in one transaction, with one wait for the disk at most; all of them or none. */
  stepAll(
    id: MessageId,
    steps: readonly DeliveryStep[],
    detail?: string,
    facts: Pick<MessageChange, 'proof' | 'turnOutcome'> = {},
  ): Message | undefined {
    const { store, log, announce } = this.#options
    const isProvable = steps.every((step) => provableSteps.includes(step))
    const [first, ...rest] = steps
    if (first === undefined) return undefined
    using _later = isProvable ? store.deferSync() : undefined
    const moves = store.transaction(() => {
      const begun = this.#move(id, first, detail, facts)
      if (begun === undefined) return []
      // What follows a legal step here is legal too; nobody comes between.
      const own = [begun, ...rest.flatMap((step) => this.#move(id, step) ?? [])]
      // What a digest carries stands where the digest stands.
      const carried = begun.row.kind === 'digest' ? store.messages.listCarried(id) : []
      const why = `${begun.row.detail ?? ''} (in digest ${id})`.trim()
      return [
        ...own,
        ...carried.flatMap((each) => steps.flatMap((step) => this.#move(each.id, step, why, facts) ?? [])),
      ]
    })
    for (const { row, event } of moves) {
      log.write('info', 'message moved', {
        messageId: row.id,
        receiverId: row.receiverId,
        to: row.state,
        because: row.detail,
      })
      announce(event)
    }
    for (const { row } of moves) this.#moved.emit(row)
    return moves.findLast(({ row }) => row.id === id)?.row
  }

  /** Row and event; in a transaction. */
  #move(
    id: MessageId,
    step: DeliveryStep,
    detail?: string,
    facts: Pick<MessageChange, 'proof' | 'turnOutcome'> = {},
  ): { readonly row: Message; readonly event: DomainEvent } | undefined {
    const { store, clock } = this.#options
    const atMs = clock.nowMs()
    const moved = store.messages.step(id, step, {
      ...facts,
      atMs,
      ...(detail === undefined ? {} : { detail }),
      ...(step === 'lease' ? { countAttempt: true } : {}),
    })
    if (moved.kind !== 'moved') return undefined
    const { row } = moved
    const event = store.events.append(
      {
        type: 'message.state_changed',
        messageId: row.id,
        receiverId: row.receiverId,
        senderId: row.senderId,
        kind: row.kind,
        from: moved.from as Message['state'],
        to: row.state,
        detail: row.detail,
        proof: row.proof,
      },
      atMs,
    )
    return { row, event }
  }

  /** Resolves with the message once `isDone` holds for it, or as it stands after `limitMs` or on abort. */
  wait(
    id: MessageId,
    isDone: (message: Message) => boolean,
    limitMs: number,
    signal: AbortSignal,
  ): Promise<Message | undefined> {
    const { store, clock } = this.#options
    return new Promise((resolve) => {
      const finish = (message: Message | undefined) => {
        subscription[Symbol.dispose]()
        timer[Symbol.dispose]()
        signal.removeEventListener('abort', giveUp)
        resolve(message)
      }
      const giveUp = () => finish(store.messages.find(id))
      const subscription = this.onMoved((message) => {
        if (message.id === id && isDone(message)) finish(message)
      })
      const timer = clock.after(limitMs, giveUp)
      signal.addEventListener('abort', giveUp, { once: true })
      const now = store.messages.find(id)
      if (now === undefined || isDone(now) || signal.aborted) finish(now)
    })
  }
}
