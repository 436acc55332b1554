/**
 * A terminal on the wire: upstream's fields, and ours that say why it stands where it stands.
 * Also the parameters of its creation, which upstream splits into query (routing) and body (secrets, long text).
 */
import { z } from 'zod'
import { orchestrationTypes } from '../domain/message.ts'
import { findLimitEnd } from '../domain/reset-time.ts'
import { type StatusView, statuses, statusReasons } from '../domain/status.ts'
import { lifeStates, type Terminal } from '../domain/terminal.ts'
import type { Worktree } from '../domain/worktree.ts'
import {
  envField,
  flagField,
  listField,
  messageField,
  nameField,
  numberField,
  optional,
  optionalName,
  optionalPath,
  senderField,
  terminalIdField,
  timeField,
  toTime,
  toTimeOrNull,
  wholeEnvField,
} from './fields.ts'
import { ownWorktreeSchema, toOwnWorktreeBody } from './worktree.ts'

export const groupElementsMax = 16
export const groupElementLengthMax = 128
export const metadataBytesMax = 16 * 1024

const groupField = z.array(z.string().min(1).max(groupElementLengthMax)).max(groupElementsMax)
const metadataField = z
  .record(z.string().max(metadataBytesMax), z.unknown())
  .refine((value) => Buffer.byteLength(JSON.stringify(value)) <= metadataBytesMax, 'must be at most 16 KiB of JSON')

export const terminalSchema = z
  .object({
    id: terminalIdField,
    name: z.string(),
    provider: z.string(),
    session_name: z.string(),
    agent_profile: z.string(),
    caller_id: z.string().nullable(),
    allowed_tools: z.array(z.string()).nullable(),
    engine: z.string().nullable(),
    shell_command: z.string().nullable(),
    group: z.array(z.string()).nullable(),
    metadata: z.record(z.string(), z.unknown()).nullable(),
    status: z.enum(statuses),
    last_active: timeField,
    // Ours.
    status_reason: z.enum(statusReasons),
    status_since: timeField,
    status_detail: z.string().nullable(),
    /** When the rate limit ends that holds it; null: none does, or its CLI does not tell. */
    status_until: timeField.nullable(),
    /** Best evidence behind the status, as `source: where to look`. */
    status_evidence: z.string().nullable(),
    question_id: z.string().nullable(),
    life: z.enum(lifeStates),
    exit_code: z.number().int().nullable(),
    exit_signal: z.string().nullable(),
    lost_reason: z.string().nullable(),
    queue_length: z.number().int(),
    working_directory: z.string(),
    program: z.string(),
    /** What the agent asks before, in words. */
    permission_mode: z.string(),
    /** Tool limits of its profile that its CLI can not enforce. */
    limits_not_enforced: z.array(z.string()),
    /** Null: it works in a directory that is not its own. */
    worktree: ownWorktreeSchema.nullable(),
    created_at: timeField,
  })
  .meta({ id: 'Terminal' })
export type TerminalBody = z.infer<typeof terminalSchema>

export const createTerminalQuery = z.object({
  agent_profile: nameField,
  provider: optionalName,
  working_directory: optionalPath,
  allowed_tools: listField.optional(),
  model: optionalName,
  engine: optionalName,
  caller_id: optional(terminalIdField).describe('Who gets the answers; an agent is it itself'),
  defer_init: flagField.optional().describe('Answers at once; the agent gets ready meanwhile'),
  use_worktree: flagField.optional(),
})
export const createSessionQuery = createTerminalQuery.extend({ session_name: optionalName })

export const createTerminalBody = z.object({
  env_vars: envField.nullish().describe('Variables for the agent; values are never shown or logged'),
  group: groupField.nullish(),
  metadata: metadataField.nullish(),
  initial_message: messageField.nullish(),
  initial_message_orchestration_type: optional(z.enum(orchestrationTypes)),
  initial_message_sender_id: senderField,
  client_env: wholeEnvField
    .nullish()
    .describe('Environment of the launching client; its PATH decides which program is found'),
})
export type CreateTerminalParams = z.input<typeof createTerminalQuery> & z.input<typeof createTerminalBody>
export type CreateSessionParams = z.input<typeof createSessionQuery> & z.input<typeof createTerminalBody>

export const groupBody = z.object({ group: groupField.nullable() })
export const metadataBody = z.object({ metadata: metadataField.nullable() })

export const siblingsQuery = z.object({
  depth: numberField(z.number().int().min(1))
    .optional()
    .describe('How many leading elements of the group must be the same; all when absent'),
  cross_session: flagField.default(false),
})

export const siblingSchema = terminalSchema
  .pick({ id: true, group: true, metadata: true, status: true })
  .meta({ id: 'Sibling' })
export type SiblingBody = z.infer<typeof siblingSchema>
export const workingDirectorySchema = z.object({ working_directory: z.string() })
export type WorkingDirectoryBody = z.infer<typeof workingDirectorySchema>
export const attachSchema = z.object({ argv: z.array(z.string()) })
export type AttachBody = z.infer<typeof attachSchema>
export const successSchema = z.object({ success: z.boolean() }).meta({ id: 'Success' })
export type SuccessBody = z.infer<typeof successSchema>
/** With the worktree of the ended agent, where it was kept. */
export const endedSchema = successSchema.extend({ worktree: ownWorktreeSchema.optional() }).meta({ id: 'Ended' })
export type EndedBody = z.infer<typeof endedSchema>

type View = {
  readonly terminal: Terminal
  readonly status: StatusView
  readonly queueLength: number
  readonly worktree?: Worktree | undefined
}

export function toTerminalBody({ terminal, status, queueLength, worktree }: View): TerminalBody {
  return {
    id: terminal.id,
    name: terminal.name,
    provider: terminal.provider,
    session_name: terminal.sessionName,
    agent_profile: terminal.profileName,
    caller_id: terminal.callerId ?? null,
    allowed_tools: terminal.allowedTools === undefined ? null : [...terminal.allowedTools],
    engine: null,
    shell_command: null,
    group: terminal.group === undefined ? null : [...terminal.group],
    metadata: terminal.metadata === undefined ? null : { ...terminal.metadata },
    status: status.status,
    last_active: toTime(terminal.lastActiveAtMs),
    status_reason: status.reason,
    status_since: toTime(status.sinceMs),
    status_detail: status.detail ?? null,
    status_until: toTimeOrNull(findLimitEnd(status)),
    status_evidence: status.because === undefined ? null : `${status.because.source}: ${status.because.raw}`,
    question_id: status.questionId ?? null,
    life: terminal.life,
    exit_code: terminal.exit?.code ?? null,
    exit_signal: terminal.exit?.signal ?? null,
    lost_reason: terminal.lostReason ?? null,
    queue_length: queueLength,
    working_directory: terminal.workingDirectory,
    program: terminal.program,
    permission_mode: terminal.permissionMode,
    limits_not_enforced: [...terminal.limitsNotEnforced],
    worktree: worktree === undefined ? null : toOwnWorktreeBody(worktree),
    created_at: toTime(terminal.createdAtMs),
  }
}
