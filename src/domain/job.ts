/** A job: a durable piece of delegated work. `handoff` waits for it, `assign` is called back at its end. */
import type { Result } from '../lib/result.ts'
import type { JobId, MessageId, SessionName, TerminalId } from './ids.ts'
import { applyStep, type IllegalMove, type Moves } from './table.ts'

export const jobStates = ['created', 'running', 'answered', 'failed', 'timed_out', 'cancelled'] as const
export type JobState = (typeof jobStates)[number]
export const jobSteps = ['start', 'answer', 'fail', 'time_out', 'cancel', 'correct'] as const
export type JobStep = (typeof jobSteps)[number]

/**
 * Legal moves; `job.test.ts` walks every pair. The first ending wins, but for one that CAO declared without knowing:
 * `isCorrectable` says which ends an exact answer that comes after all may correct, once.
 */
export const jobMoves: Moves<JobState, JobStep> = {
  created: { start: 'running', answer: 'answered', fail: 'failed', time_out: 'timed_out', cancel: 'cancelled' },
  running: { answer: 'answered', fail: 'failed', time_out: 'timed_out', cancel: 'cancelled' },
  answered: {},
  failed: { correct: 'answered' },
  timed_out: { correct: 'answered' },
  cancelled: {},
}

export function stepJob(from: JobState, step: JobStep): Result<JobState, IllegalMove<JobState, JobStep>> {
  return applyStep(jobMoves, from, step)
}

export type JobKind = 'handoff' | 'assign' | 'step'

/** What ended a job, in one word. The first three are answers, the rest failures. */
export const jobEndings = [
  'turn_ended',
  'reported',
  'no_change_needed',
  'reported_failure',
  'not_started',
  'not_delivered',
  'unconfirmed',
  'turn_failed',
  'interrupted',
  'no_answer',
  'hung',
  'worker_exited',
  'worker_lost',
  'worker_deleted',
  'checks_failed',
  'timed_out',
  'cancelled',
] as const
export type JobEnding = (typeof jobEndings)[number]

/** One command that had to pass; `output` is its end. */
export type CheckResult = {
  readonly command: string
  readonly isPassed: boolean
  /** `exit code 1`, `no end after 600 s`. */
  readonly how: string
  readonly output: string
}
/** A text is run by `/bin/sh -c`, a list is argv words without a shell. */
export type Check = string | readonly string[]
export const checksMax = 10
/** How often the checks of one job are run: after the first failure the worker is told what failed, and may go on. */
export const checkRoundsMax = 2

export type JobResult = {
  /** The worker's exact answer; undefined when there is none. */
  readonly answer: string | undefined
  /** Why it failed, in a sentence; undefined when it was answered. */
  readonly failure: string | undefined
  /** Where the answer was read: api, hook, transcript, message, screen. */
  readonly source: string | undefined
  /** Undefined in rows of a CAO that did not write it. */
  readonly ending?: JobEnding | undefined
  readonly checks?: readonly CheckResult[] | undefined
}

/** How the work was asked for, so that it can be started again. The client's environment is not kept. */
export type JobRequest = {
  readonly timeoutMs?: number | undefined
  readonly sessionName?: SessionName | undefined
  readonly provider?: string | undefined
  readonly workingDirectory?: string | undefined
  readonly allowedTools?: readonly string[] | undefined
  readonly model?: string | undefined
  readonly useWorktree?: boolean | undefined
  readonly reuseTerminalId?: TerminalId | undefined
  readonly checks?: readonly Check[] | undefined
  /** Nobody waits for a handoff that was only started: its asker is told by a message. */
  readonly isUnattended?: boolean | undefined
}

export type Job = {
  readonly id: JobId
  readonly kind: JobKind
  /** Terminal of the asker; undefined for a person or a script. */
  readonly callerId: TerminalId | undefined
  readonly workerId: TerminalId | undefined
  readonly profileName: string
  readonly task: string
  /** The caller's own key: the same key again is the same job. */
  readonly requestKey: string | undefined
  readonly messageId: MessageId | undefined
  readonly state: JobState
  readonly result: JobResult | undefined
  readonly deadlineAtMs: number
  /** Whether the worker ends with its job. */
  readonly teardown: boolean
  readonly request: JobRequest
  /** The job that was tried before this one. */
  readonly retryOf: JobId | undefined
  /** What its worker says is the result, while the checks have not passed. */
  readonly claim: JobResult | undefined
  readonly checksRun: number
  /** Whether the asker has been handed the end (waited for it, or got the callback). */
  readonly isReported: boolean
  readonly createdAtMs: number
  readonly endedAtMs: number | undefined
}

export const isJobOpen = (job: Pick<Job, 'state'>): boolean => job.state === 'created' || job.state === 'running'

/** Its worker may still be at it: what CAO said was that it had not heard. */
export const isCorrectable = (job: Pick<Job, 'state' | 'result'>): boolean =>
  job.state === 'timed_out' || (job.state === 'failed' && ['unconfirmed', 'hung'].includes(job.result?.ending ?? ''))
