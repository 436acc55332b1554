/** A session on the wire: upstream's five fields, and how many agents it holds. */
import { z } from 'zod'
import type { Session, Terminal } from '../domain/terminal.ts'
import { timeField, toTime } from './fields.ts'
import { terminalSchema } from './terminal.ts'

export const sessionSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    /** `active` while one of its agents lives. */
    status: z.enum(['active', 'detached']),
    working_directory: z.string(),
    /** Profile of its first agent. */
    agent_profile: z.string().nullable(),
    terminal_count: z.number().int(),
    created_at: timeField,
  })
  .meta({ id: 'Session' })
export type SessionBody = z.infer<typeof sessionSchema>

export const sessionDetailSchema = z
  .object({ session: sessionSchema, terminals: z.array(terminalSchema) })
  .meta({ id: 'SessionDetail' })
export type SessionDetailBody = z.infer<typeof sessionDetailSchema>

export const deletedSchema = z
  .object({
    success: z.boolean(),
    deleted: z.array(z.string()),
    errors: z.array(z.object({ id: z.string(), error: z.string() })),
  })
  .meta({ id: 'Deleted' })
export type DeletedBody = z.infer<typeof deletedSchema>

export function toSessionBody(session: Session, terminals: readonly Terminal[]): SessionBody {
  return {
    id: session.name,
    name: session.name,
    status: terminals.some(({ life }) => life === 'live' || life === 'planned') ? 'active' : 'detached',
    working_directory: session.workingDirectory,
    agent_profile: terminals[0]?.profileName ?? null,
    terminal_count: terminals.length,
    created_at: toTime(session.createdAtMs),
  }
}

export function toDeletedBody(outcome: {
  readonly deleted: readonly string[]
  readonly errors: readonly { readonly id: string; readonly error: string }[]
}): DeletedBody {
  return { success: outcome.errors.length === 0, deleted: [...outcome.deleted], errors: [...outcome.errors] }
}
