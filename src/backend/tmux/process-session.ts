/**
 * The processes that belong to a terminal: all whose session (in the kernel's sense) is the wrapper's, their descendants,
 * and those that carry the terminal's own variable in their environment, as what an agent put into a session of its own
 * does. A daemon that was started without it is shared and not ours. Used to end what outlives its pane, and only that: a
 * number that another process has got since is told by its start time, and nothing older than the wrapper counts.
 */
import { readdirSync, readFileSync } from 'node:fs'
import type { Clock } from '../../async/clock.ts'
import { sleep } from '../../async/wait.ts'
import { type ProcessIdentity, readProcessIdentity, signalProcess } from '../../tmux/process-identity.ts'

const pollMs = 20

export type MembersQuery = {
  /** The wrapper. */
  readonly leader: ProcessIdentity
  /** Processes known otherwise, for systems without /proc. */
  readonly known: readonly number[]
  /** `NAME=value` that only this terminal's processes have in their environment. */
  readonly mark: string
}

/** Living processes of the terminal. Where the system has no /proc, only the leader and `known` are found. */
export async function findMembers(clock: Clock, query: MembersQuery): Promise<ProcessIdentity[]> {
  if (process.platform === 'linux') return findLinuxMembers(query)
  const { leader, known } = query
  const current = await readProcessIdentity(clock, leader.pid)
  if (current !== undefined && current.startedAt !== leader.startedAt) return []
  const found = await Promise.all([leader.pid, ...known].map((pid) => readProcessIdentity(clock, pid)))
  return found.filter((identity) => identity !== undefined)
}

type LinuxProcess = ProcessIdentity & { readonly parent: number; readonly session: number }

function findLinuxMembers({ leader, mark }: MembersQuery): ProcessIdentity[] {
  const processes = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (readLinux(Number(name)) ?? []) : []))
  const current = processes.find((each) => each.pid === leader.pid)
  const isReused = current !== undefined && current.startedAt !== leader.startedAt
  const young = processes.filter(
    (each) => each.pid !== process.pid && Number(each.startedAt) >= Number(leader.startedAt),
  )
  const members = new Set<LinuxProcess>(
    young.filter((each) => (!isReused && each.session === leader.pid) || hasInEnvironment(each.pid, mark)),
  )
  // Parents before children or not: until nothing is added.
  for (let size = -1; size !== members.size; ) {
    size = members.size
    const pids = new Set([...members].map(({ pid }) => pid))
    for (const each of young) if (pids.has(each.parent)) members.add(each)
  }
  return [...members].map(({ pid, startedAt }) => ({ pid, startedAt }))
}

/** Source: proc_pid_stat(5), fields 3 (state), 4 (parent), 6 (session) and 22 (start time). */
function readLinux(pid: number): LinuxProcess | undefined {
  const stat = readIfAllowed(`/proc/${pid}/stat`)
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, parent] = fields
  const startedAt = fields[19]
  if (startedAt === undefined || state === 'Z' || state === 'X') return undefined
  return { pid, startedAt, parent: Number(parent), session: Number(fields[3]) }
}

function hasInEnvironment(pid: number, mark: string): boolean {
  const bytes = Buffer.from(`\0${mark}\0`, 'utf8').toString('latin1')
  return `\0${readIfAllowed(`/proc/${pid}/environ`)}`.includes(bytes)
}

/** Empty for a process that has gone or belongs to somebody else. */
function readIfAllowed(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
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
