/**
 * The file in which a running Claude Code keeps its own status (`sessions/PID.json` below its configuration folder).
 * It tells what no hook does: that a turn was interrupted, that a prompt was refused. Pure.
 */
import { numberOf, parseFields, textOf } from '../fields.ts'

export type VendorStatus = 'busy' | 'waiting' | 'idle'

export type StatusRecord = {
  readonly sessionId: string
  /** undefined: not told yet, or a word that we do not know. */
  readonly status: VendorStatus | undefined
  readonly updatedAtMs: number
  /** Of the program: a resumed conversation has a newer file beside one that a crash left. */
  readonly startedAtMs: number
}

/** `shell`: the turn has ended and a command goes on in the background. */
const statuses: Readonly<Record<string, VendorStatus>> = {
  busy: 'busy',
  waiting: 'waiting',
  idle: 'idle',
  shell: 'idle',
}

export function parseStatusRecord(text: string): StatusRecord | undefined {
  const fields = parseFields(text)
  const sessionId = fields === undefined ? undefined : textOf(fields, 'sessionId')
  if (fields === undefined || sessionId === undefined) return undefined
  return {
    sessionId,
    status: statuses[textOf(fields, 'status') ?? ''],
    updatedAtMs: numberOf(fields, 'statusUpdatedAt') ?? 0,
    startedAtMs: numberOf(fields, 'startedAt') ?? 0,
  }
}
