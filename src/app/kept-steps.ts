/**
 * What evidence leads to is done in the order in which it came. While the store has no room the steps wait, and are
 * tried again until there is some: what an agent told once is told by nobody a second time.
 */
import type { Clock } from '../async/clock.ts'
import { AppError } from '../domain/errors.ts'
import type { Log } from '../lib/log.ts'

const retryGapMs = 500
/** More than an agent tells in hours; what comes beyond is dropped, and the log says so. */
const keptStepsMax = 10_000

export class KeptSteps implements Disposable {
  readonly #clock: Clock
  readonly #log: Log
  readonly #kept: (() => void)[] = []
  #timer: Disposable | undefined

  constructor(clock: Clock, log: Log) {
    this.#clock = clock
    this.#log = log
  }

  /** Does `step` now, or after those that wait. Errors: the step's own, but STORAGE_FULL. */
  run(step: () => void): void {
    if (this.#kept.length === 0 && this.#try(step)) return
    if (this.#kept.length >= keptStepsMax) return this.#log.write('error', 'evidence dropped: no room for too long')
    this.#kept.push(step)
    this.#timer ??= this.#clock.after(retryGapMs, () => this.#retry())
  }

  /** Gives up what still waits: after a restart the agent's records tell it. */
  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]()
    this.#kept.length = 0
  }

  #retry(): void {
    this.#timer = undefined
    for (let step = this.#kept[0]; step !== undefined; step = this.#kept[0]) {
      try {
        if (!this.#try(step)) break
      } catch (error) {
        this.#log.write('error', 'a kept step failed', { error: String(error) })
      }
      this.#kept.shift()
    }
    if (this.#kept.length > 0) this.#timer = this.#clock.after(retryGapMs, () => this.#retry())
  }

  #try(step: () => void): boolean {
    try {
      step()
      return true
    } catch (error) {
      if (error instanceof AppError && error.code === 'STORAGE_FULL') return false
      throw error
    }
  }
}
