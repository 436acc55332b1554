/**
 * Whether the backend's server is there, and how it comes back: after its death it is started again at once, and a
 * launch that comes before that waits for the same start.
 */
import { SerialQueue } from '../async/serial-queue.ts'
import { deadlineSignal, sleep, type Waiting } from '../async/wait.ts'
import type { BackendFacts, TerminalBackend } from '../backend/backend.ts'
import { AppError } from '../domain/errors.ts'
import type { CoreContext } from './core-context.ts'

const startLimitMs = 20_000
const waitingMax = 1_000
const askAgainMs = 150

export class BackendGuard {
  readonly #context: CoreContext
  readonly #backend: TerminalBackend
  readonly #starts = new SerialQueue('start of the backend', waitingMax)
  #facts: BackendFacts | undefined
  #last: BackendFacts | undefined

  constructor(context: CoreContext, backend: TerminalBackend) {
    this.#context = context
    this.#backend = backend
  }

  /** What is known of it; `isReady` false while it is gone or being started. */
  get view(): { readonly facts: BackendFacts | undefined; readonly isReady: boolean } {
    return { facts: this.#facts ?? this.#last, isReady: this.#facts !== undefined }
  }

  /** It has died: the next `ensure` starts it. */
  noteLost(): void {
    this.#facts = undefined
  }

  /** Resolves at once when it runs. Errors: BACKEND_GONE, BACKEND_TIMEOUT, SETUP_MISSING. */
  async ensure(): Promise<BackendFacts> {
    if (this.#facts !== undefined) return this.#facts
    return this.#starts.run(async () => this.#facts ?? (await this.#start()))
  }

  /** A call found nobody there, sooner than its death was told: it is looked for again, and started where it is gone. */
  async renew(): Promise<void> {
    await this.#starts.run(() => this.#start())
  }

  async #start(): Promise<BackendFacts> {
    const { clock, store, events } = this.#context
    using limit = deadlineSignal(clock, startLimitMs, `the ${this.#backend.name} server`)
    const facts = await this.#ask(limit)
    this.#facts = facts
    this.#last = facts
    if (store.getFact('backend_instance') !== facts.instanceId) {
      store.setFact('backend_instance', facts.instanceId)
      events.append({ type: 'backend.ready', backend: facts.name, instanceId: facts.instanceId }, clock.nowMs())
    }
    return facts
  }

  /** A server that goes down turns everybody away until it is gone, and a frozen one answers later: ask again. */
  async #ask(limit: Waiting): Promise<BackendFacts> {
    for (;;) {
      try {
        return await this.#backend.ensure(limit)
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'BACKEND_TIMEOUT') throw error
        const isOver = await sleep(this.#context.clock, askAgainMs, limit.signal).then(
          () => false,
          () => true,
        )
        if (isOver) throw error
      }
    }
  }
}
