/**
 * The end of one terminal: the agent is asked, then its pane is removed, then whatever of the
 * pane's processes is left is ended for sure (an agent has outlived its terminal by minutes).
 * Only processes of this terminal are touched (process-session.ts), each known by its start time.
 */
import type { Clock } from '../../async/clock.ts'
import { sleep } from '../../async/wait.ts'
import { type InputTarget, killTaggedPane } from '../../tmux/input.ts'
import { readPane } from '../../tmux/panes.ts'
import { type ProcessIdentity, readProcessIdentity } from '../../tmux/process-identity.ts'
import type { Runner } from '../../tmux/runner.ts'
import { failedFault, unavailableFault } from './faults.ts'
import { environmentMark, readAgentPid, readExit, readWrapper, type TerminalFiles } from './launch-files.ts'
import { findMembers, signalAll, waitForEnd } from './process-session.ts'

/** From the removal of the pane, which sends HUP, to SIGKILL. */
const hangUpGraceMs = 300
const killedGraceMs = 1_000
const exitFileLimitMs = 1_000
const pollMs = 10

export type EndTerminalOptions = {
  readonly clock: Clock
  readonly files: TerminalFiles
  readonly target: InputTarget
  /** Undefined when the server life of the pane is over. */
  readonly runner: Runner | undefined
  /** From SIGTERM to the removal of the pane; 0 does not ask. */
  readonly graceMs: number
}

/** Idempotent. Errors: BACKEND_GONE, BACKEND_TIMEOUT when the pane could not be removed; its processes are ended even so. */
export async function endTerminal(options: EndTerminalOptions): Promise<void> {
  const { clock, files, runner, graceMs } = options
  const leader = readWrapper(files) ?? (await leaderOfPane(options))
  const agentPid = readAgentPid(files)
  const find = (): Promise<ProcessIdentity[]> =>
    leader === undefined
      ? Promise.resolve([])
      : findMembers(clock, { leader, known: agentPid === undefined ? [] : [agentPid], mark: environmentMark(files) })
  const before = await find()
  if (graceMs > 0) {
    const agent = before.filter((each) => each.pid === agentPid)
    await signalAll(clock, agent, 'SIGTERM')
    const isEnded = agent.length > 0 && (await waitForEnd(clock, agent, graceMs))
    if (isEnded) await waitForExitFile(clock, files)
  }
  const removed = runner === undefined ? undefined : await killTaggedPane(runner, options.target)
  const members = await stillThere(clock, [...before, ...(await find())])
  if (!(await waitForEnd(clock, members, hangUpGraceMs))) {
    await signalAll(clock, members, 'SIGKILL')
    await waitForEnd(clock, members, killedGraceMs)
  }
  if (removed === undefined || removed.kind === 'done' || removed.kind === 'gone') return
  if (removed.kind === 'failed') throw failedFault('remove the pane', removed.detail)
  if (removed.kind === 'timed-out' || removed.kind === 'closed' || removed.kind === 'overloaded') {
    throw unavailableFault(removed)
  }
}

/** The wrapper has yet to write how the agent ended, and the removal of the pane would end it before. */
async function waitForExitFile(clock: Clock, files: TerminalFiles): Promise<void> {
  const deadlineMs = clock.monotonicMs() + exitFileLimitMs
  while (readExit(files) === undefined && clock.monotonicMs() < deadlineMs) await sleep(clock, pollMs)
}

/** Those of a terminal whose wrapper is known. */
export async function findProcesses(clock: Clock, files: TerminalFiles): Promise<ProcessIdentity[]> {
  const leader = readWrapper(files)
  return leader === undefined ? [] : findMembers(clock, { leader, known: [], mark: environmentMark(files) })
}

/** Where a crash of ours came before the wrapper's identity was noted: the process of the living, tagged pane. */
async function leaderOfPane({ clock, runner, target }: EndTerminalOptions): Promise<ProcessIdentity | undefined> {
  if (runner === undefined) return undefined
  const pane = await readPane(runner, target.paneId, target.tag.option)
  const isOurs = pane.kind === 'found' && pane.facts.tag === target.tag.value && !pane.facts.isDead
  return isOurs ? readProcessIdentity(clock, pane.facts.pid) : undefined
}

async function stillThere(clock: Clock, identities: readonly ProcessIdentity[]): Promise<ProcessIdentity[]> {
  const byPid = new Map(identities.map((each) => [each.pid, each]))
  const now = await Promise.all([...byPid.values()].map((each) => readProcessIdentity(clock, each.pid)))
  return now.filter(
    (each) => each !== undefined && byPid.get(each.pid)?.startedAt === each.startedAt,
  ) as ProcessIdentity[]
}
