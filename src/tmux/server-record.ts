/**
 * The note that says which process our server is. It is what makes a removed socket recoverable
 * after a restart of ours: without it a second server would be started.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerAddress } from './address.ts'
import type { ProcessIdentity } from './process-identity.ts'

export type ServerRecord = ProcessIdentity & {
  readonly instance: string
  readonly socketPath: string
  /** Somebody else's server, on which we are guests: never ended by us. */
  readonly isForeign: boolean
}

/** The record, or undefined when there is none or it is unreadable. */
export function readServerRecord(address: ServerAddress): ServerRecord | undefined {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(address.recordPath, 'utf8'))
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const { pid, startedAt, instance, socketPath, isForeign } = value as Record<string, unknown>
  if (!Number.isSafeInteger(pid) || typeof startedAt !== 'string' || typeof instance !== 'string') return undefined
  if (typeof socketPath !== 'string') return undefined
  return { pid: pid as number, startedAt, instance, socketPath, isForeign: isForeign === true }
}

/** Replaces the record in one step; several writers of the same server write the same. */
export function writeServerRecord(address: ServerAddress, record: ServerRecord): void {
  const temporary = `${address.recordPath}.${process.pid}`
  writeFileSync(temporary, `${JSON.stringify(record)}\n`, { mode: 0o600 })
  renameSync(temporary, address.recordPath)
}

export function removeServerRecord(address: ServerAddress): void {
  rmSync(address.recordPath, { force: true })
}
