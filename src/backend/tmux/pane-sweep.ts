/**
 * The one timer of the backend: every few seconds a light look over all panes, for what no event told. It is also how a
 * server that stands still is noticed, and when it answers again: nothing is concluded from silence, it is only told.
 */
import type { Clock } from '../../async/clock.ts'
import { SignalLatch } from '../../async/signal-latch.ts'
import type { Log } from '../../lib/log.ts'

export const sweepLimits = {
  /** Between two looks when nothing calls for one earlier. */
  everyMs: 5_000,
  /** The same while the server does not answer. */
  silentEveryMs: 500,
  /** A server that has not answered a look by then is told to be silent. */
  answerLimitMs: 3_000,
} as const

export type SweepOptions = {
  readonly clock: Clock
  readonly log: Log
  /** One look; `idle` when there was nothing to look at. */
  readonly look: () => Promise<'answered' | 'silent' | 'idle'>
  readonly onAnswering: (isAnswering: boolean) => void
}

export class PaneSweep {
  readonly #options: SweepOptions
  readonly #now = new SignalLatch()
  #isSilent = false

  constructor(options: SweepOptions) {
    this.#options = options
  }

  /** Asks for a look now instead of in a few seconds. */
  soon(): void {
    this.#now.raise()
  }

  /** Runs until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, look, onAnswering } = this.#options
    while (!signal.aborted) {
      await this.#now.wait(clock, this.#isSilent ? sweepLimits.silentEveryMs : sweepLimits.everyMs, signal)
      if (signal.aborted) return
      try {
        const seen = await look()
        if (seen === 'idle' || (seen === 'silent') === this.#isSilent) continue
        this.#isSilent = seen === 'silent'
        log.write('warn', this.#isSilent ? 'tmux server does not answer' : 'tmux server answers again')
        onAnswering(!this.#isSilent)
      } catch (error) {
        log.write('error', 'look over all panes failed', { error: String(error) })
      }
    }
  }
}
