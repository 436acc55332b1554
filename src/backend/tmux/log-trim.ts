/**
 * Keeps an output log from growing without bound while the sink appends to it: the head of the
 * file is given back to the file system as a hole, so offsets stay what they are. Where the log
 * now starts stands in a small file beside it, written BEFORE the hole is made, so that no reader
 * takes the zeros of a hole for output.
 * Source: fallocate(1), --punch-hole. Where the system can not do that, the log is not trimmed.
 */
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { Clock } from '../../async/clock.ts'
import { runProgram } from '../../tmux/run-program.ts'

/** Bytes. */
export type TrimLimits = { readonly allocatedMax: number; readonly kept: number }
export const trimLimits: TrimLimits = { allocatedMax: 64 * 1024 * 1024, kept: 32 * 1024 * 1024 }

/** For a log that nobody reads: who reads it later is told of the gap. */
export const unreadTrimLimits: TrimLimits = { allocatedMax: 256 * 1024 * 1024, kept: 32 * 1024 * 1024 }

const blockBytes = 4_096
const statBlockBytes = 512

const startPath = (logPath: string): string => `${logPath}.start`

/** Offset of the first byte that was not trimmed away. */
export function readLogStart(logPath: string): number {
  try {
    const text = readFileSync(startPath(logPath), 'utf8')
    return /^\d{1,15}\n$/.test(text) ? Number(text) : 0
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
}

/** For a log that begins anew. */
export function forgetLogStart(logPath: string): void {
  rmSync(startPath(logPath), { force: true })
}

export type TrimOptions = {
  readonly clock: Clock
  readonly logPath: string
  /** Nothing from this offset on is given up: a reader has not seen it. */
  readonly readUpTo: number
  readonly limits?: TrimLimits
}

export type TrimOutcome = 'small-enough' | 'trimmed' | { readonly kind: 'failed'; readonly detail: string }

/** Gives up the head of a log that takes more room than allowed. */
export async function trimLog(options: TrimOptions): Promise<TrimOutcome> {
  const { clock, logPath, readUpTo } = options
  const limits = options.limits ?? trimLimits
  const stat = statSync(logPath, { throwIfNoEntry: false })
  if (stat === undefined || stat.blocks * statBlockBytes <= limits.allocatedMax) return 'small-enough'
  const wanted = Math.min(stat.size - limits.kept, readUpTo)
  const start = Math.floor(wanted / blockBytes) * blockBytes
  if (start <= readLogStart(logPath)) return 'small-enough'
  writeFileSync(`${startPath(logPath)}.tmp`, `${start}\n`, { mode: 0o600 })
  renameSync(`${startPath(logPath)}.tmp`, startPath(logPath))
  const args = ['--punch-hole', '--offset', '0', '--length', String(start), logPath]
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C' }
  const result = await runProgram({ clock, file: 'fallocate', args, env, timeoutMs: 10_000 })
  if (result.kind === 'exited' && result.code === 0) return 'trimmed'
  const detail = result.kind === 'exited' ? result.stderr.trim() : result.kind
  return { kind: 'failed', detail }
}
