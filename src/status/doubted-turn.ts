/**
 * A turn whose end nobody told. A source that announces ends is believed while it is silent, and it may have failed: a
 * hook that could not be written, a full disk. When the screen has been at rest for the provider's time, the agent's own
 * record decides; where it does not tell, the turn is called hung, which ends nothing and is seen.
 */
import type { Clock } from '../async/clock.ts'
import { deadlineSignal, sleep } from '../async/wait.ts'
import type { AnswerOutcome } from '../providers/provider.ts'
import type { TerminalWatch } from './terminal-watch.ts'

/** Between two looks at an agent that is said to work. */
export const doubtEveryMs = 5_000
const lookLimitMs = 5_000
const recordLimitMs = 500

export type DoubtOptions = {
  readonly watch: Pick<TerminalWatch, 'state' | 'look' | 'addEvidence'>
  readonly clock: Clock
  readonly hungAfterMs: number
  readonly loadAnswer: (signal: AbortSignal) => Promise<AnswerOutcome>
}

/** Runs until `signal` aborts. */
export async function doubtTurns(options: DoubtOptions, signal: AbortSignal): Promise<void> {
  const { watch, clock, hungAfterMs } = options
  let restSinceMs: number | undefined
  for (;;) {
    await sleep(clock, doubtEveryMs, signal)
    if (watch.state.status !== 'processing' || !(await isAtRest(options, signal))) {
      restSinceMs = undefined
      continue
    }
    restSinceMs ??= clock.monotonicMs()
    if (clock.monotonicMs() - restSinceMs < hungAfterMs) continue
    await decide(options, Math.round(hungAfterMs / 1_000))
  }
}

async function decide({ watch, loadAnswer }: DoubtOptions, restS: number): Promise<void> {
  const answer = await loadAnswer(AbortSignal.timeout(recordLimitMs))
  if (watch.state.status !== 'processing') return
  if (answer.kind === 'exact') {
    const claim = { kind: 'turn_ended', outcome: 'answered', answer: answer.text } as const
    watch.addEvidence('transcript', claim, `the record has an answer, and the screen is at rest for ${restS} s`)
  } else if (watch.state.reason !== 'hung') {
    watch.addEvidence('process', { kind: 'busy', reason: 'hung' }, `the screen is at rest for ${restS} s`)
  }
}

async function isAtRest({ watch, clock }: DoubtOptions, signal: AbortSignal): Promise<boolean> {
  using limit = deadlineSignal(clock, lookLimitMs, 'a screen', signal)
  try {
    const seen = await watch.look(limit)
    return seen !== 'gone' && seen.reading.claim?.kind === 'ready'
  } catch (error) {
    if (signal.aborted) throw error
    // What can not be looked at is not known to rest.
    return false
  }
}
