/** A job: a durable piece of delegated work. `handoff` waits for it, `assign` is called back at its end. */
import type { Result } from '../lib/result.ts'
import type { JobId, MessageId, TerminalId } from './ids.ts'
import { applyStep, type IllegalMove, type Moves } from './table.ts'

export const jobStates = ['created', 'running', 'answered', 'failed', 'timed_out', 'cancelled'] as const
export type JobState = (typeof jobStates)[number]
export const jobSteps = ['start', 'answer', 'fail', 'time_out', 'cancel'] as const
export type JobStep = (typeof jobSteps)[number]

/** Legal moves; `job.test.ts` walks every pair. The first ending wins. */
export const jobMoves: Moves<JobState, JobStep> = {
  created: { start: 'running', answer: 'answered', fail: 'failed', time_out: 'timed_out', cancel: 'cancelled' },
  running: { answer: 'answered', fail: 'failed', time_out: 'timed_out', cancel: 'cancelled' },
  answered: {},
  failed: {},
  timed_out: {},
  cancelled: {},
}

export function stepJob(from: JobState, step: JobStep): Result<JobState, IllegalMove<JobState, JobStep>> {
  return applyStep(jobMoves, from, step)
}

export type JobKind = 'handoff' | 'assign' | 'step'
export type JobResult = {
  /** The worker's exact answer; undefined when there is none. */
  readonly answer: string | undefined
  /** Why it failed, in a sentence; undefined when it was answered. */
  readonly failure: string | undefined
  /** Where the answer was read: api, hook, transcript, message, screen. */
  readonly source: string | undefined
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
  /** Whether the asker has been handed the end (waited for it, or got the callback). */
  readonly isReported: boolean
  readonly createdAtMs: number
  readonly endedAtMs: number | undefined
}

export const isJobOpen = (job: Pick<Job, 'state'>): boolean => job.state === 'created' || job.state === 'running'
