/** Jobs on the wire: how one is asked for, how it stands, how it ended; and upstream's run-step, which is a job one waits for. */
import { z } from 'zod'
import { checksMax, isJobOpen, type Job, type JobState, jobEndings, jobStates } from '../domain/job.ts'
import {
  envField,
  flagField,
  listField,
  messageField,
  nameField,
  nameLengthMax,
  numberField,
  optional,
  optionalName,
  optionalPath,
  pathLengthMax,
  terminalIdField,
  timeField,
  toolsMax,
  toTime,
  toTimeOrNull,
  wholeEnvField,
} from './fields.ts'
import { jobTimeoutMaxS, jobWaitMaxS, stepTimeoutDefaultS } from './version.ts'

const timeoutField = numberField(z.number().positive().max(jobTimeoutMaxS)).describe(
  'How long the work may take, in seconds',
)
const requestKeyField = optional(z.string().max(nameLengthMax)).describe(
  "The asker's own key: asking again with it finds the same job",
)

const checkField = z.string().min(1).max(pathLengthMax)
const checksField = z
  .array(z.union([checkField, z.array(checkField).min(1).max(toolsMax)]))
  .max(checksMax)
  .describe(
    'Commands that must pass before the answer counts: a text for `/bin/sh -c`, or a list of words for a program without a shell',
  )

export const checkSchema = z
  .object({
    command: z.string(),
    passed: z.boolean(),
    /** `exit code 1`, or why there is none. */
    how: z.string(),
    /** Its end. */
    output: z.string(),
  })
  .meta({ id: 'Check' })

const attentionSchema = z
  .object({
    kind: z.enum(['question', 'unconfirmed', 'held', 'checks']),
    detail: z.string(),
    question_id: z.string().nullable(),
  })
  .meta({ id: 'JobAttention' })

export const jobSchema = z
  .object({
    id: z.string(),
    kind: z.enum(['handoff', 'assign', 'step']),
    caller_id: z.string().nullable(),
    /** The worker; null before it exists. */
    terminal_id: z.string().nullable(),
    agent_profile: z.string(),
    message: z.string(),
    request_key: z.string().nullable(),
    message_id: z.number().nullable(),
    state: z.enum(jobStates),
    is_open: z.boolean(),
    /** The exact answer; null when there is none (yet). */
    output: z.string().nullable(),
    /** Why it failed, in a sentence. */
    failure: z.string().nullable(),
    /** What ended it, in one word; null while it is open. */
    ending: z.enum(jobEndings).nullable(),
    /** Where the answer was read. */
    source: z.string().nullable(),
    /** Of the checks that were asked for, those that were run last. */
    checks: z.array(checkSchema),
    /** What an open job waits for, other than its worker's work; null when there is nothing to do about it. */
    attention: attentionSchema.nullable(),
    /** The job whose work this is once more. */
    retry_of: z.string().nullable(),
    teardown: z.boolean(),
    deadline_at: timeField,
    created_at: timeField,
    ended_at: timeField.nullable(),
  })
  .meta({ id: 'Job' })
export type JobBody = z.infer<typeof jobSchema>

export const startJobBody = z.object({
  kind: z.enum(['handoff', 'assign']),
  agent_profile: nameField,
  message: messageField,
  provider: optionalName,
  session_name: optionalName,
  working_directory: optionalPath,
  allowed_tools: listField.nullish(),
  model: optionalName,
  engine: optionalName,
  use_worktree: flagField.nullish(),
  caller_id: optional(terminalIdField),
  request_key: requestKeyField,
  timeout: timeoutField.nullish(),
  teardown: flagField.nullish().describe('Ends the worker with its job; by default for a handoff to a new worker'),
  reuse_terminal_id: optional(terminalIdField),
  reuse_idle: flagField
    .nullish()
    .describe('Takes an idle worker of the asker, of the same profile and directory, if there is one'),
  unattended: flagField.nullish().describe('Nobody waits for this handoff: its end is told by a message'),
  checks: checksField.nullish(),
  client_env: wholeEnvField.nullish(),
})
export type StartJobParams = z.input<typeof startJobBody>

export const waitJobQuery = z.object({
  wait_s: numberField(z.number().min(0).max(jobWaitMaxS))
    .default(0)
    .describe('How long to wait for the end before answering with what is known, in seconds'),
})

export const jobsListedMax = 200
const jobsListedDefault = 50
const jobFilterWords = ['open', 'ended', ...jobStates] as const

export const listJobsQuery = z.object({
  caller_id: optional(terminalIdField),
  worker_id: optional(terminalIdField),
  state: optional(z.enum(jobFilterWords)),
  limit: numberField(z.number().int().min(1).max(jobsListedMax)).default(jobsListedDefault),
})

/** A job without its long texts. */
export const jobLineSchema = jobSchema
  .omit({ message: true, output: true, checks: true })
  .extend({
    /** The first line of the task. */
    headline: z.string(),
  })
  .meta({ id: 'JobLine' })
export type JobLineBody = z.infer<typeof jobLineSchema>

export const retryJobBody = z.object({
  request_key: requestKeyField,
  timeout: timeoutField.nullish(),
  client_env: wholeEnvField.nullish(),
})
export type RetryJobParams = z.input<typeof retryJobBody>

export const reportJobBody = z.object({
  status: z.enum(['done', 'no_change_needed', 'failed']),
  result: messageField.describe('The result; of a failure, why'),
})
export type ReportJobParams = z.input<typeof reportJobBody>

export const runStepBody = z.object({
  provider: optionalName,
  agent: nameField,
  prompt: messageField,
  session_name: optionalName,
  reuse_terminal_id: optional(terminalIdField),
  teardown: flagField.default(true),
  timeout: timeoutField.default(stepTimeoutDefaultS),
  working_directory: optionalPath,
  caller_id: optional(terminalIdField),
  allowed_tools: listField.nullish(),
  use_worktree: flagField.nullish(),
  env_vars: envField.nullish(),
  model: optionalName,
  engine: optionalName,
  recovery: optionalName,
  request_key: requestKeyField,
})
export type RunStepParams = z.input<typeof runStepBody>

export const stepSchema = z
  .object({
    terminal_id: terminalIdField.nullable(),
    last_message: z.string(),
    status: z.literal('completed'),
    /** True: the step had ended before, and this is its answer again. */
    replayed: z.boolean(),
    job_id: z.string(),
  })
  .meta({ id: 'Step' })
export type StepBody = z.infer<typeof stepSchema>

type Attention = {
  readonly kind: 'question' | 'unconfirmed' | 'held' | 'checks'
  readonly detail: string
  readonly questionId?: string
}

export function toJobBody(job: Job, attention?: Attention): JobBody {
  return {
    id: job.id,
    kind: job.kind,
    caller_id: job.callerId ?? null,
    terminal_id: job.workerId ?? null,
    agent_profile: job.profileName,
    message: job.task,
    request_key: job.requestKey ?? null,
    message_id: job.messageId ?? null,
    state: job.state,
    is_open: isJobOpen(job),
    output: job.result?.answer ?? null,
    failure: job.result?.failure ?? null,
    ending: job.result?.ending ?? null,
    source: job.result?.source ?? null,
    checks: (job.result?.checks ?? []).map(({ isPassed: passed, ...check }) => ({ ...check, passed })),
    attention:
      attention === undefined
        ? null
        : { kind: attention.kind, detail: attention.detail, question_id: attention.questionId ?? null },
    retry_of: job.retryOf ?? null,
    teardown: job.teardown,
    deadline_at: toTime(job.deadlineAtMs),
    created_at: toTime(job.createdAtMs),
    ended_at: toTimeOrNull(job.endedAtMs),
  }
}

const headlineMax = 120

export function toJobLine(job: Job, attention?: Attention): JobLineBody {
  const { message, output: _output, checks: _checks, ...line } = toJobBody(job, attention)
  return { ...line, headline: (message.trimStart().split('\n', 1)[0] ?? '').slice(0, headlineMax) }
}

export function toJobStates(word: (typeof jobFilterWords)[number]): readonly JobState[] {
  if (word !== 'open' && word !== 'ended') return [word]
  return jobStates.filter((state) => isJobOpen({ state }) === (word === 'open'))
}
