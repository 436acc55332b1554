/**
 * Who did what, when, and how it ended: one line of JSON per request that changes something or was refused at the door.
 * Never a body, a query or a token. The file is bounded: when it is full it becomes `audit.1.jsonl` and a new one begins.
 */
import { appendFileSync, renameSync, statSync } from 'node:fs'
import type { Actor } from '../app/app.ts'
import type { ErrorCode } from '../domain/errors.ts'
import type { Log } from '../lib/log.ts'

/** Of one file; there are two. Units: bytes. */
export const auditBytesMax = 4 * 1024 * 1024
/** Of the target, which may come from anybody. Units: characters. */
export const auditTargetLengthMax = 200

export type AuditEntry = {
  readonly at: string
  readonly actor: 'person' | 'reader' | 'agent' | 'nobody'
  /** The agent; absent for people. */
  readonly terminal?: string
  readonly door: 'unix' | 'tcp'
  readonly method: string
  /** As it is registered, such as `/terminals/:id/input`; `none` for what is no route. */
  readonly route: string
  /** What stood for the parameters of the path. */
  readonly target?: string
  readonly status: number
  /** Of a refusal or a fault. */
  readonly code?: ErrorCode
}

/** Where entries go. Never throws. */
export type Audit = (entry: AuditEntry) => void

/** Pure. */
export function describeActor(actor: Actor | undefined): Pick<AuditEntry, 'actor' | 'terminal'> {
  if (actor === undefined) return { actor: 'nobody' }
  if (actor.kind === 'terminal') return { actor: 'agent', terminal: actor.id }
  return { actor: actor.mayOnlyRead === true ? 'reader' : 'person' }
}

export function earlierAuditFile(path: string): string {
  return path.replace(/\.jsonl$/, '.1.jsonl')
}

/** Appends to `path` (0600). A disk that takes no line loses it, and the log says so. */
export function openAudit(path: string, log: Log): Audit {
  return (entry) => {
    try {
      if (sizeOf(path) >= auditBytesMax) renameSync(path, earlierAuditFile(path))
      appendFileSync(path, `${JSON.stringify(entry)}\n`, { mode: 0o600 })
    } catch (error) {
      log.write('error', 'an audit line is lost', { error: String(error) })
    }
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
