/**
 * Where the socket of our server lies. Unix sockets have a short limit on their path (104 to 108
 * bytes by system), and a temp cleaner may remove what lies in a shared place, so the run
 * directory of CAO comes first and a hashed private directory stands in where that is too deep.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Bytes; tmux appends `.lock` next to it while a server starts. */
export const socketPathBytesMax = 99

export type SocketPathInput = {
  /** Where it should be, as CAO_HOME/run. */
  readonly runDir: string
  readonly runtimeDir: string | undefined
  readonly tempDir: string
  readonly uid: number
}

/** The path for that run directory; the same input gives the same path. Pure. */
export function chooseSocketPath(input: SocketPathInput): string {
  const preferred = join(input.runDir, 'tmux.sock')
  if (Buffer.byteLength(preferred) <= socketPathBytesMax) return preferred
  const hash = createHash('sha256').update(input.runDir).digest('hex').slice(0, 16)
  const base = input.runtimeDir === undefined || input.runtimeDir === '' ? input.tempDir : input.runtimeDir
  const beside = join(base, `cao-${input.uid}-${hash}`, 's')
  return Buffer.byteLength(beside) <= socketPathBytesMax ? beside : join('/tmp', `cao-${input.uid}-${hash}`, 's')
}

export type DirectoryCheck = { readonly kind: 'ok' } | { readonly kind: 'unsafe'; readonly detail: string }

/** Makes the directory 0700 where it is missing; refuses one that another user owns or may write. */
export function ensurePrivateDirectory(path: string, uid: number): DirectoryCheck {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const stat = statSync(path)
  if (stat.uid !== uid) return { kind: 'unsafe', detail: `${path} belongs to user ${stat.uid}` }
  if ((stat.mode & 0o022) !== 0) return { kind: 'unsafe', detail: `${path} can be written by others` }
  return { kind: 'ok' }
}
