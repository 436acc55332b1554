/**
 * Wakes one waiting loop. Raising it while nobody waits is remembered once: a hint is never lost
 * and never piles up.
 */
import { assert } from '../lib/assert.ts'
import type { Clock } from './clock.ts'

export class SignalLatch {
  #raised = false
  #wake: (() => void) | undefined

  raise(): void {
    this.#raised = true
    this.#wake?.()
  }

  /** Resolves once raised, after at most `limitMs`, or when `signal` aborts; tells whether it was raised. One waiter at a time. */
  wait(clock: Clock, limitMs: number, signal: AbortSignal): Promise<boolean> {
    assert(this.#wake === undefined, 'a second waiter on a signal latch: it would steal the wake of the first')
    return new Promise((resolve) => {
      const done = () => {
        timer[Symbol.dispose]()
        signal.removeEventListener('abort', done)
        this.#wake = undefined
        const raised = this.#raised
        this.#raised = false
        resolve(raised)
      }
      const timer = clock.after(limitMs, done)
      signal.addEventListener('abort', done, { once: true })
      this.#wake = done
      if (this.#raised || signal.aborted) done()
    })
  }
}
