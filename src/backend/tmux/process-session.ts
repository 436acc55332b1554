/**
 * The processes that belong to a pane: all whose session (in the kernel's sense) is the wrapper's.
 * Used to end what outlives its pane, and only that: a number that another process has got since
 * is told by its start time.
 */
import { readdirSync, readFileSync } from 'node:fs'
import type { Clock } from '../../async/clock.ts'
import { sleep } from '../../async/wait.ts'
import { type ProcessIdentity, readProcessIdentity, signalProcess } from '../../tmux/process-identity.ts'

const pollMs = 20

/**
 * Living members of the session that `leader` led or leads; empty when its number belongs to another process by now.
 * Where the system has no /proc, only the leader and `known` are found.
 */
export async function findSessionMembers(
  clock: Clock,
  leader: ProcessIdentity,
  known: readonly number[],
): Promise<ProcessIdentity[]> {
  const current = await readProcessIdentity(clock, leader.pid)
  if (current !== undefined && current.startedAt !== leader.startedAt) return []
  const pids = process.platform === 'linux' ? linuxSessionMembers(leader.pid) : [leader.pid, ...known]
  const found = await Promise.all(pids.map((pid) => readProcessIdentity(clock, pid)))
  return found.filter((identity) => identity !== undefined)
}

/** Source: proc_pid_stat(5), field 6 (session). */
function linuxSessionMembers(sessionId: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
        return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]) === sessionId
      } catch {
        return false
      }
    })
}

/** True when all have ended within `limitMs`. */
export async function waitForEnd(
  clock: Clock,
  identities: readonly ProcessIdentity[],
  limitMs: number,
): Promise<boolean> {
  const deadlineMs = clock.monotonicMs() + limitMs
  for (;;) {
    const now = await Promise.all(identities.map((each) => readProcessIdentity(clock, each.pid)))
    if (now.every((each, index) => each?.startedAt !== identities[index]?.startedAt)) return true
    if (clock.monotonicMs() >= deadlineMs) return false
    await sleep(clock, pollMs)
  }
}

export async function signalAll(
  clock: Clock,
  identities: readonly ProcessIdentity[],
  signal: NodeJS.Signals,
): Promise<void> {
  for (const identity of identities) await signalProcess(clock, identity, signal)
}
