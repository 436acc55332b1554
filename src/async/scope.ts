/**
 * Owner of background loops: each is named, told to stop by one signal, awaited at close, and its
 * crash is reported instead of vanishing as an unhandled rejection.
 */
import type { Clock } from './clock.ts'
import { withDeadline } from './wait.ts'

export class Scope implements AsyncDisposable {
  readonly #controller = new AbortController()
  readonly #running = new Map<Promise<void>, string>()
  readonly #clock: Clock
  readonly #onCrash: (name: string, error: unknown) => void
  static readonly closeLimitMs = 5_000

  constructor(clock: Clock, onCrash: (name: string, error: unknown) => void) {
    this.#clock = clock
    this.#onCrash = onCrash
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Starts `loop`; it should end soon after `signal` aborts. After close nothing starts. */
  spawn(name: string, loop: (signal: AbortSignal) => Promise<void>): void {
    if (this.signal.aborted) return
    const start = async () => await loop(this.signal)
    const running: Promise<void> = start()
      .catch((error: unknown) => {
        if (!this.signal.aborted) this.#onCrash(name, error)
      })
      .finally(() => this.#running.delete(running))
    this.#running.set(running, name)
  }

  /** Aborts all loops and waits for them, at most `closeLimitMs`. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#controller.abort(new Error('scope closed'))
    if (this.#running.size === 0) return
    const names = [...this.#running.values()].join(', ')
    await withDeadline(this.#clock, Promise.all(this.#running.keys()), Scope.closeLimitMs, `loops to end: ${names}`)
  }
}
