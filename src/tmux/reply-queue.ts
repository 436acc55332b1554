/**
 * Matches reply blocks with the commands that wait for them, in order. A command that timed out
 * keeps its place until its own replies have come, so a late answer never reaches the wrong caller.
 */
import type { Clock } from '../async/clock.ts'
import { createDeferred, type Deferred } from '../async/wait.ts'
import type { ControlBlock } from './control-parser.ts'
import { type ClosedReason, type Reply, type RunOutcome, replyText } from './runner.ts'

type Waiting = {
  readonly replies: number
  readonly sentinel: string | undefined
  readonly received: Reply[]
  readonly settled: Deferred<RunOutcome>
  readonly timer: Disposable
  isAbandoned: boolean
}

export type ReplyRequest = {
  readonly replies: number
  readonly sentinel: string | undefined
  readonly timeoutMs: number
  /** Names the command in a timeout; never the whole line, which may hold secrets. */
  readonly what: string
}

export class ReplyQueue {
  readonly #clock: Clock
  readonly #waiting: Waiting[] = []
  #closed: ClosedReason | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Commands whose replies have not all come, timed-out ones included. */
  get length(): number {
    return this.#waiting.length
  }

  expect(request: ReplyRequest): Promise<RunOutcome> {
    if (this.#closed !== undefined) return Promise.resolve({ kind: 'closed', reason: this.#closed })
    const settled = createDeferred<RunOutcome>()
    const timer = this.#clock.after(request.timeoutMs, () => {
      waiting.isAbandoned = true
      settled.resolve({ kind: 'timed-out', waitedMs: request.timeoutMs, what: request.what })
    })
    const waiting: Waiting = { ...request, received: [], settled, timer, isAbandoned: false }
    this.#waiting.push(waiting)
    return settled.promise
  }

  /** Takes a block; one that this client's stdin did not cause, or that nobody waits for, is ignored and false returned. */
  accept(block: ControlBlock): boolean {
    const waiting = this.#waiting[0]
    if ((block.flags & 1) === 0 || waiting === undefined) return false
    const reply: Reply = { ok: block.ok, lines: block.lines }
    if (waiting.sentinel !== undefined) {
      if (block.ok && replyText(reply) === waiting.sentinel) this.#finish(waiting)
      else if (!waiting.isAbandoned) waiting.received.push(reply)
      return true
    }
    waiting.received.push(reply)
    if (!block.ok || waiting.received.length >= waiting.replies) this.#finish(waiting)
    return true
  }

  /** Ends every wait; later ones end at once. The first reason stays. */
  close(reason: ClosedReason): void {
    this.#closed ??= reason
    for (const waiting of this.#waiting.splice(0)) {
      waiting.timer[Symbol.dispose]()
      waiting.settled.resolve({ kind: 'closed', reason: this.#closed })
    }
  }

  #finish(waiting: Waiting): void {
    this.#waiting.shift()
    waiting.timer[Symbol.dispose]()
    waiting.settled.resolve({ kind: 'replied', replies: waiting.received })
  }
}
