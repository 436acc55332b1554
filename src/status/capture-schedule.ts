/**
 * When to look at a screen: at the first byte, then at most once per `intervalMs` while output flows, then a
 * bounded run of looks after the last byte until two are alike. Never on an idle terminal.
 * Figures: a quiet time must exceed the frame gap of a spinner (100 ms); a fixed interval costs least.
 */
import type { Clock } from '../async/clock.ts'

export const intervalMs = 200
/** Looks after the last output, milliseconds after it (and never closer than the interval); stops early when two looks are alike. */
export const settleLooksMs: readonly number[] = [150, 300, 600, 1_200]

export type Look = () => Promise<'changed' | 'same'>

export class CaptureSchedule implements Disposable {
  readonly #clock: Clock
  readonly #look: Look
  readonly #onError: (error: unknown) => void
  #timer: Disposable | undefined
  #dueAtMs = Number.POSITIVE_INFINITY
  #lastLookAtMs = Number.NEGATIVE_INFINITY
  #lastOutputAtMs = Number.NEGATIVE_INFINITY
  /** Index into settleLooksMs of the next settling look; past the end: settled. */
  #settleStep = settleLooksMs.length
  #isLooking = false
  #isClosed = false

  constructor(options: { readonly clock: Clock; readonly look: Look; readonly onError: (error: unknown) => void }) {
    this.#clock = options.clock
    this.#look = options.look
    this.#onError = options.onError
  }

  /** Output arrived, or something else asks for a fresh look. */
  nudge(): void {
    const nowMs = this.#clock.monotonicMs()
    this.#lastOutputAtMs = nowMs
    this.#settleStep = 0
    this.#arm(Math.max(nowMs, this.#lastLookAtMs + intervalMs))
  }

  /** Until the next look; undefined: none is due before something is printed. Units: ms. */
  get dueInMs(): number | undefined {
    if (!Number.isFinite(this.#dueAtMs)) return undefined
    return Math.max(0, Math.round(this.#dueAtMs - this.#clock.monotonicMs()))
  }

  #arm(atMs: number): void {
    if (this.#isClosed || this.#isLooking || atMs >= this.#dueAtMs) return
    this.#timer?.[Symbol.dispose]()
    this.#dueAtMs = atMs
    this.#timer = this.#clock.after(Math.max(0, atMs - this.#clock.monotonicMs()), () => {
      this.#dueAtMs = Number.POSITIVE_INFINITY
      this.#run().catch(this.#onError)
    })
  }

  async #run(): Promise<void> {
    if (this.#isClosed) return
    const outputAtMs = this.#lastOutputAtMs
    this.#isLooking = true
    this.#lastLookAtMs = this.#clock.monotonicMs()
    let seen: 'changed' | 'same' = 'changed'
    try {
      seen = await this.#look()
    } finally {
      this.#isLooking = false
    }
    if (this.#lastOutputAtMs !== outputAtMs) this.#arm(this.#lastLookAtMs + intervalMs)
    else this.#settle(seen)
  }

  #settle(seen: 'changed' | 'same'): void {
    if (seen === 'same' && this.#settleStep > 0) {
      this.#settleStep = settleLooksMs.length
      return
    }
    const afterMs = settleLooksMs[this.#settleStep]
    if (afterMs === undefined) return
    this.#settleStep++
    this.#arm(Math.max(this.#lastOutputAtMs + afterMs, this.#lastLookAtMs + intervalMs))
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    this.#timer?.[Symbol.dispose]()
  }
}
