/**
 * Time as a value that is passed in. Nothing else in `src/` may call Date.now or setTimeout
 * (lint), so that every wait can be tested without waiting.
 */
export interface Clock {
  /** Wall clock, milliseconds since 1970. */
  nowMs(): number
  /** Monotonic milliseconds, for durations and deadlines. */
  monotonicMs(): number
  /** Runs `callback` once after `delayMs`; dispose to cancel. */
  after(delayMs: number, callback: () => void): Disposable
}
