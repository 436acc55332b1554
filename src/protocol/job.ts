/** Jobs on the wire: how one is asked for, how it stands, how it ended; and upstream's run-step, which is a job one waits for. */
import { z } from 'zod'
import { isJobOpen, type Job, jobStates } from '../domain/job.ts'
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
  terminalIdField,
  timeField,
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
    /** Where the answer was read. */
    source: z.string().nullable(),
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
  client_env: wholeEnvField.nullish(),
})
export type StartJobParams = z.input<typeof startJobBody>

export const waitJobQuery = z.object({
  wait_s: numberField(z.number().min(0).max(jobWaitMaxS))
    .default(0)
    .describe('How long to wait for the end before answering with what is known, in seconds'),
})

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
