/** Jobs on the wire: how one is asked for, how it stands, how it ended; and upstream's run-step, which is a job one waits for. */
import { z } from 'zod'
import { isJobOpen, type Job, jobStates } from '../domain/job.ts'
import {
  listField,
  messageField,
  numberField,
  optionalText,
  terminalIdField,
  timeField,
  toTime,
  toTimeOrNull,
} from './fields.ts'
import { jobTimeoutMaxS, jobWaitMaxS, stepTimeoutDefaultS } from './version.ts'

const timeoutField = z.number().positive().max(jobTimeoutMaxS)

export const jobSchema = z.object({
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
  /** Where the answer was read. */
  source: z.string().nullable(),
  teardown: z.boolean(),
  deadline_at: timeField,
  created_at: timeField,
  ended_at: timeField.nullable(),
})
export type JobBody = z.infer<typeof jobSchema>

export const startJobBody = z.object({
  kind: z.enum(['handoff', 'assign']),
  agent_profile: z.string().min(1),
  message: messageField,
  provider: optionalText,
  session_name: optionalText,
  working_directory: optionalText,
  allowed_tools: listField.nullish(),
  model: optionalText,
  engine: optionalText,
  use_worktree: z.boolean().nullish(),
  caller_id: optionalText.pipe(terminalIdField.optional()),
  /** The asker's own key: asking again with it finds the same job. */
  request_key: optionalText.pipe(z.string().max(128).optional()),
  /** Units: s. */
  timeout: timeoutField.nullish(),
  teardown: z.boolean().nullish(),
  reuse_terminal_id: optionalText.pipe(terminalIdField.optional()),
  client_env: z.record(z.string(), z.string()).nullish(),
})
export type StartJobParams = z.input<typeof startJobBody>

export const waitJobQuery = z.object({
  wait_s: numberField.pipe(z.number().min(0).max(jobWaitMaxS)).default(0),
})

export const runStepBody = z.object({
  provider: optionalText,
  agent: z.string().min(1),
  prompt: messageField,
  session_name: optionalText,
  reuse_terminal_id: optionalText.pipe(terminalIdField.optional()),
  teardown: z.boolean().default(true),
  /** Units: s. */
  timeout: timeoutField.default(stepTimeoutDefaultS),
  working_directory: optionalText,
  caller_id: optionalText.pipe(terminalIdField.optional()),
  allowed_tools: listField.nullish(),
  use_worktree: z.boolean().nullish(),
  env_vars: z.record(z.string(), z.string()).nullish(),
  model: optionalText,
  engine: optionalText,
  recovery: z.string().nullish(),
  /** Ours, as for jobs. */
  request_key: optionalText.pipe(z.string().max(128).optional()),
})
export type RunStepParams = z.input<typeof runStepBody>
export type StepBody = {
  readonly terminal_id: string | null
  readonly last_message: string
  readonly status: 'completed'
  readonly replayed: boolean
  readonly job_id: string
}

export function toJobBody(job: Job): JobBody {
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
    source: job.result?.source ?? null,
    teardown: job.teardown,
    deadline_at: toTime(job.deadlineAtMs),
    created_at: toTime(job.createdAtMs),
    ended_at: toTimeOrNull(job.endedAtMs),
  }
}
