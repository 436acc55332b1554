/**
 * A process told from a later one with the same number: pid plus start time. Signals go only to a
 * process whose identity was recorded before.
 */
import { readFileSync } from 'node:fs'
import type { Clock } from '../async/clock.ts'
import { runProgram } from './run-program.ts'

export type ProcessIdentity = {
  readonly pid: number
  /** Opaque; equal for the same process. On Linux clock ticks since boot, elsewhere what ps prints. */
  readonly startedAt: string
}

/** The identity of a living process, or undefined when there is none (a zombie counts as none). */
export async function readProcessIdentity(clock: Clock, pid: number): Promise<ProcessIdentity | undefined> {
  const startedAt = process.platform === 'linux' ? linuxStart(pid) : await psStart(clock, pid)
  return startedAt === undefined ? undefined : { pid, startedAt }
}

/** Source: proc_pid_stat(5); the command name may hold spaces and parentheses, so fields count from the last one. */
function linuxStart(pid: number): string | undefined {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return undefined
  }
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
}

async function psStart(clock: Clock, pid: number): Promise<string | undefined> {
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C' }
  const args = ['-o', 'lstart=', '-p', String(pid)]
  const result = await runProgram({ clock, file: 'ps', args, env, timeoutMs: 2_000 })
  const text = result.kind === 'exited' && result.code === 0 ? result.stdout.trim() : ''
  return text === '' ? undefined : text
}

export type SignalOutcome = 'sent' | 'gone'

/** Signals exactly the recorded process; `gone` when it has ended or its number belongs to another by now. */
export async function signalProcess(
  clock: Clock,
  identity: ProcessIdentity,
  signal: NodeJS.Signals,
): Promise<SignalOutcome> {
  const now = await readProcessIdentity(clock, identity.pid)
  if (now?.startedAt !== identity.startedAt) return 'gone'
  try {
    process.kill(identity.pid, signal)
    return 'sent'
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return 'gone'
    throw error
  }
}
