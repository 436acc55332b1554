import type { Clock } from './clock.ts'

type Timer = { readonly dueMs: number; readonly order: number; readonly callback: () => void }

/** Turns of the microtask queue that a chain of awaits may need before its next timer stands. */
const settleTurns = 10
async function settle(): Promise<void> {
  for (let i = 0; i < settleTurns; i++) await Promise.resolve()
}

/** A clock that only moves when told to; for tests. */
export class ManualClock implements Clock {
  #nowMs: number
  #order = 0
  readonly #timers = new Set<Timer>()

  constructor(startMs = 1_700_000_000_000) {
    this.#nowMs = startMs
  }

  nowMs(): number {
    return this.#nowMs
  }

  monotonicMs(): number {
    return this.#nowMs
  }

  after(delayMs: number, callback: () => void): Disposable {
    const timer: Timer = { dueMs: this.#nowMs + delayMs, order: this.#order++, callback }
    this.#timers.add(timer)
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) }
  }

  /** Moves time forward and runs, in order, what falls due on the way; lets pending promises go on before, in between and after. */
  async advance(byMs: number): Promise<void> {
    const endMs = this.#nowMs + byMs
    await settle()
    for (;;) {
      const due = [...this.#timers].filter((timer) => timer.dueMs <= endMs)
      const next = due.toSorted((a, b) => a.dueMs - b.dueMs || a.order - b.order)[0]
      if (next === undefined) break
      this.#timers.delete(next)
      this.#nowMs = Math.max(this.#nowMs, next.dueMs)
      next.callback()
      await settle()
    }
    this.#nowMs = endMs
    await settle()
  }

  get timerCount(): number {
    return this.#timers.size
  }
}
