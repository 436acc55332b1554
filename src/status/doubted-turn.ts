/**
 * A turn whose end nobody told. A source that announces ends is believed while it is silent, and it may have failed: a
 * hook that could not be written, a full disk. When the screen has been at rest for the provider's time, the agent's own
 * record decides; where it does not tell, the turn is called hung, which ends nothing and is seen. So with a question that
 * no longer stands on the screen. Hung is also a program
 * that looks busy and has printed nothing for that time: one that works draws at least its spinner.
 */
import type { Clock } from '../async/clock.ts'
import { deadlineSignal, sleep } from '../async/wait.ts'
import { isInTurn } from '../domain/status-reducer.ts'
import type { AnswerOutcome } from '../providers/provider.ts'
import type { TerminalWatch } from './terminal-watch.ts'

/** Between two looks at an agent that is said to work. */
export const doubtEveryMs = 5_000
const lookLimitMs = 5_000
const recordLimitMs = 500

export type DoubtOptions = {
  readonly watch: Pick<TerminalWatch, 'state' | 'look' | 'addEvidence' | 'cursor'>
  readonly clock: Clock
  readonly hungAfterMs: number
  readonly loadAnswer: (signal: AbortSignal) => Promise<AnswerOutcome>
}

/** Runs until `signal` aborts. */
export async function doubtTurns(options: DoubtOptions, signal: AbortSignal): Promise<void> {
  const { watch, clock, hungAfterMs } = options
  let restSinceMs: number | undefined
  let silence: { readonly offset: number; readonly sinceMs: number } | undefined
  for (;;) {
    await sleep(clock, doubtEveryMs, signal)
    const nowMs = clock.monotonicMs()
    const offset = watch.cursor.outputOffset
    if (watch.state.status !== 'processing') silence = undefined
    else if (silence?.offset !== offset) silence = { offset, sinceMs: nowMs }
    const isSilent = silence !== undefined && nowMs - silence.sinceMs >= hungAfterMs
    // Said already, and nothing new to see.
    if (isSilent && watch.state.reason === 'hung') continue
    if (!isInTurn(watch.state) || !(await isAtRest(options, signal))) {
      restSinceMs = undefined
      if (isSilent) sayHung(options, 'nothing was printed')
      continue
    }
    restSinceMs ??= clock.monotonicMs()
    if (clock.monotonicMs() - restSinceMs < hungAfterMs) continue
    await decide(options)
  }
}

function sayHung({ watch, hungAfterMs }: DoubtOptions, what: string): void {
  if (!isInTurn(watch.state) || watch.state.reason === 'hung') return
  watch.addEvidence('process', { kind: 'busy', reason: 'hung' }, `${what} for ${Math.round(hungAfterMs / 1_000)} s`)
}

async function decide(options: DoubtOptions): Promise<void> {
  const { watch, loadAnswer, hungAfterMs } = options
  const answer = await loadAnswer(AbortSignal.timeout(recordLimitMs))
  if (!isInTurn(watch.state)) return
  if (answer.kind !== 'exact') return sayHung(options, 'the screen is at rest')
  const claim = { kind: 'turn_ended', outcome: 'answered', answer: answer.text } as const
  const restS = Math.round(hungAfterMs / 1_000)
  watch.addEvidence('transcript', claim, `the record has an answer, and the screen is at rest for ${restS} s`)
}

async function isAtRest({ watch, clock }: DoubtOptions, signal: AbortSignal): Promise<boolean> {
  using limit = deadlineSignal(clock, lookLimitMs, 'a screen', signal)
  try {
    const seen = await watch.look(limit)
    return seen !== 'gone' && (seen.reading.claim?.kind === 'ready' || seen.reading.claim?.kind === 'failed')
  } catch (error) {
    if (signal.aborted) throw error
    // What can not be looked at is not known to rest.
    return false
  }
}
