/**
 * Waiting with an end. Every wait in this code base goes through here, so that none can last
 * for ever and each one that times out can name what it waited for.
 */
import type { Clock } from './clock.ts'

export type Waiting = { readonly signal: AbortSignal }

/** A wait that reached its deadline. `what` completes the sentence "waited for …". */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
  readonly what: string
  readonly afterMs: number
  constructor(what: string, afterMs: number) {
    super(`gave up after ${afterMs} ms waiting for ${what}`)
    this.what = what
    this.afterMs = afterMs
  }
}

/** Resolves after `delayMs`; rejects with the signal's reason when it aborts first. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error)
    const timer = clock.after(delayMs, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    const onAbort = () => {
      timer[Symbol.dispose]()
      reject(signal?.reason as Error)
    }
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

/** Settles as `promise` does, or rejects with DeadlineError after `limitMs`. The work itself goes on. */
export function withDeadline<T>(clock: Clock, promise: Promise<T>, limitMs: number, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(limitMs, () => reject(new DeadlineError(what, limitMs)))
    promise.then(
      (value) => {
        timer[Symbol.dispose]()
        resolve(value)
      },
      (error: unknown) => {
        timer[Symbol.dispose]()
        reject(error as Error)
      },
    )
  })
}

/** A promise with its handles outside. Settling twice keeps the first. */
export type Deferred<T> = {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
  readonly reject: (error: unknown) => void
}

export function createDeferred<T>(): Deferred<T> {
  return Promise.withResolvers<T>()
}

/** An abort signal that fires with DeadlineError after `limitMs`, or when `parent` aborts. Owns: dispose to free the timer. */
export function deadlineSignal(
  clock: Clock,
  limitMs: number,
  what: string,
  parent?: AbortSignal,
): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController()
  const timer = clock.after(limitMs, () => controller.abort(new DeadlineError(what, limitMs)))
  const signal = parent === undefined ? controller.signal : AbortSignal.any([parent, controller.signal])
  return { signal, [Symbol.dispose]: () => timer[Symbol.dispose]() }
}
