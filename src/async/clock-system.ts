import type { Clock } from './clock.ts'

/** The real clock. Timers do not keep the process alive on their own: what must live is held by what it serves. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    return { [Symbol.dispose]: () => clearTimeout(timer) }
  },
}
