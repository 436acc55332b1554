/**
 * What is said of a job, to its worker and to its asker: the task as it is typed, why there is no answer, the report of the
 * end. Pure. What a worker or a screen said is quoted: to whoever reads it they are words, not orders.
 */
import type { TerminalId } from '../domain/ids.ts'
import { type CheckResult, checkRoundsMax, type Job, type JobEnding, type JobResult } from '../domain/job.ts'
import type { Message } from '../domain/message.ts'
import type { StatusState } from '../domain/status-reducer.ts'
import type { Terminal } from '../domain/terminal.ts'
import type { TurnEnd } from './runtime.ts'

/** Of the output of a failed check, as much as is told. Units: characters. */
const toldOutputMax = 3_000

/** Why a worker's job can have no answer any more. */
export type WorkerEnd = {
  readonly ending: JobEnding
  readonly why: string
  /** What its screen said last. */
  readonly lastLines?: readonly string[]
}

export const failure = (ending: JobEnding, why: string): JobResult => ({
  answer: undefined,
  failure: why,
  source: undefined,
  ending,
})

/** An assigned worker is told that its answer travels by itself, so that it does not send it twice. */
export function formatTask(job: Job): string {
  if (job.kind !== 'assign' || job.callerId === undefined) return job.task
  return `${job.task}\n\n[When you are done, end your turn with the result: CAO brings your answer to ${job.callerId}.]`
}

/** The end of a turn as the end of its job. */
export function toResult({ outcome, answer, detail }: TurnEnd): JobResult {
  if (answer.kind === 'exact') {
    const { text, source } = answer
    if (outcome === 'answered') return { answer: text, failure: undefined, source, ending: 'turn_ended' }
    return { ...failTurn(outcome, detail), answer: text }
  }
  return outcome === 'answered' ? failure('no_answer', answer.why) : failTurn(outcome, detail)
}

function failTurn(outcome: 'interrupted' | 'failed', detail: string | undefined): JobResult {
  if (outcome === 'interrupted') return failure('interrupted', 'the turn was interrupted')
  return failure('turn_failed', detail ?? 'the turn failed')
}

/** How far the job had come, as far as is known, and what its worker's screen said last. */
export function describeCut(task: Message | undefined, { why, lastLines = [] }: WorkerEnd): string {
  const isTaken = task?.state === 'confirmed' || task?.state === 'turn_started'
  const isWaiting = task === undefined || task.state === 'queued'
  const when = isTaken ? ' in the middle of the task' : isWaiting ? ' before it took the task' : ''
  const quoted = lastLines.map((line) => `\n> ${line}`).join('')
  return `${why}${when}${quoted === '' ? '' : `; its screen ended with:${quoted}`}`
}

/** A worker that is not there any more, or has never been. */
export function describeGone(worker: Terminal | undefined): WorkerEnd {
  if (worker === undefined) return { ending: 'worker_lost', why: 'its worker is no longer known' }
  const reason = worker.lostReason === undefined ? '' : `: ${worker.lostReason}`
  const why = `its worker ${worker.id} is ${worker.life}${reason}`
  if (worker.life === 'exited') return { ending: 'worker_exited', why }
  return { ending: worker.life === 'lost' ? 'worker_lost' : 'worker_deleted', why }
}

/** What a worker does whose time is over. */
export function describeWorker(workerId: TerminalId | undefined, state: StatusState | undefined): string {
  if (workerId === undefined || state === undefined) return 'its worker is not running'
  const doing = { waiting_user_answer: 'waits for an answer', processing: 'is still at work' }[state.status as string]
  const about = state.detail === undefined ? '' : `: ${state.detail}`
  return `the worker ${workerId} ${doing ?? `is ${state.status} (${state.reason})`}${about}; it was left running`
}

/** What the asker is told as a message. `isLate`: it was told of a failure before. */
export function formatReport(job: Job, isLate: boolean): string {
  const who = `${job.profileName} (${job.workerId ?? 'no worker'})`
  const { answer, failure: why, ending } = job.result ?? {}
  if (why === undefined) {
    if (ending === 'no_change_needed') return `${who} says that no change is needed:\n${answer ?? ''}`
    return `${isLate ? 'Late result' : 'Result'} from ${who}:\n${answer ?? ''}`
  }
  return `The task given to ${who} has failed: ${why}${answer === undefined ? '' : `\nIts last words:\n${answer}`}`
}

/** One sentence, then the output of the first that failed. */
function describeChecks(results: readonly CheckResult[]): string {
  const failed = results.find(({ isPassed }) => !isPassed)
  if (failed === undefined) return 'all checks passed'
  const { command, how, output } = failed
  const told = output.slice(-toldOutputMax).trimEnd()
  const quoted = told === '' ? '' : `; its output ended with:\n${told.replaceAll(/^/gm, '> ')}`
  return `the check \`${command}\` did not pass (${how})${quoted}`
}

/** To the worker, once. */
export const formatFailedChecks = (results: readonly CheckResult[]): string =>
  `Your task does not count as done yet: ${describeChecks(results)}\n\nGo on until it passes, then end your turn with the result; the checks are run once more.`

/** The end of a job whose checks did not pass; what its worker said is kept. */
export const failChecks = (claim: JobResult, checks: readonly CheckResult[], rounds: number): JobResult => ({
  answer: claim.answer,
  failure: `${describeChecks(checks)}${rounds < checkRoundsMax ? '' : `\nIt was run ${rounds} times.`}`,
  source: claim.source,
  ending: 'checks_failed',
  checks,
})
