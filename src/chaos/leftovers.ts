/** What must not be there: at rest (panes, paste buffers), and after the end (processes, sockets, files, descriptors). */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { sleep } from '../async/wait.ts'
import { findProcesses } from '../world/find-processes.ts'
import { countDescriptors, isRunning, signalIfThere } from './processes.ts'
import type { Stage } from './stage.ts'

/** More than a fresh server held: connections that are just being closed. */
const descriptorSlack = 4
/** CAO deletes paste buffers of interrupted lines after half a minute, and dead panes of people within seconds. */
const tidyLimitMs = 60_000
const settleLimitMs = 10_000
const pollMs = 100
const endLimitMs = 10_000
const callLimitMs = 120_000

/** While the team is at rest; what CAO itself removes after a while is given that time. `alive`: every terminal that should have a pane. */
export function findAtRest(stage: Stage, alive: ReadonlySet<string>): Promise<readonly string[]> {
  return poll(
    stage,
    tidyLimitMs,
    () => lookAtRest(stage, alive),
    (found) => found.length === 0,
  )
}

async function lookAtRest(stage: Stage, alive: ReadonlySet<string>): Promise<readonly string[]> {
  const panes = await stage.listPanes()
  const tagged = panes.filter(({ terminalId }) => terminalId !== '')
  const strangers = tagged.filter(({ terminalId }) => !alive.has(terminalId))
  const missing = [...alive].filter((id) => !tagged.some(({ terminalId }) => terminalId === id))
  // The keeper has the one pane that is nobody's.
  const untagged = panes.filter(({ terminalId }) => terminalId === '')
  const buffers = (await stage.tmux('list-buffers', '-F', '#{buffer_name}')).split('\n').filter((name) => name !== '')
  return [
    ...strangers.map(({ paneId, terminalId }) => `pane ${paneId} of ${terminalId}, which does not live`),
    ...missing.map((id) => `${id} lives and has no pane`),
    ...(untagged.length > 1
      ? [
          `${untagged.length} panes that belong to nobody: ${untagged.map(({ paneId, session }) => `${paneId} in ${session}`).join(', ')}`,
        ]
      : []),
    ...buffers.map((name) => `tmux buffer ${name}`),
  ]
}

/** Ends all agents, then tmux, then the server; says what is left of each. `freshDescriptors`: what a new server holds open. */
export async function endEverything(stage: Stage, freshDescriptors: number): Promise<readonly string[]> {
  const { client, parts, serverPid } = stage
  const { folder, layout } = parts.world
  const problems: string[] = []
  const { errors } = await client.shutdownAll({ timeoutMs: callLimitMs })
  problems.push(...errors.map(({ id, error }) => `${id} could not be ended: ${error}`))
  if (serverPid !== undefined) {
    problems.push(...(await judgeDescriptors(stage, serverPid, freshDescriptors)))
    signalIfThere(serverPid, 'SIGTERM')
  }
  const left = await poll(
    stage,
    endLimitMs,
    () => findProcesses(folder),
    (found) => found.length === 0,
  )
  for (const { pid, command } of left) {
    problems.push(`process ${pid} was left: ${command.slice(0, 160)}`)
    signalIfThere(pid, 'SIGKILL')
  }
  problems.push(...findFiles(folder, layout))
  return problems
}

async function judgeDescriptors(stage: Stage, pid: number, fresh: number): Promise<readonly string[]> {
  if (!(await isRunning(pid))) return [`server ${pid} ended by itself`]
  const most = fresh + descriptorSlack
  const count = await poll(
    stage,
    settleLimitMs,
    () => countDescriptors(pid),
    (found) => found <= most,
  )
  return count <= most
    ? []
    : [`the server holds ${count} descriptors after all agents have ended, and held ${fresh} when it was new`]
}

async function poll<T>(
  stage: Stage,
  limitMs: number,
  look: () => Promise<T>,
  isGood: (seen: T) => boolean,
): Promise<T> {
  const endMs = stage.clock.monotonicMs() + limitMs
  for (;;) {
    const seen = await look()
    if (isGood(seen) || stage.clock.monotonicMs() > endMs) return seen
    await sleep(stage.clock, pollMs)
  }
}

function findFiles(folder: string, layout: Stage['parts']['world']['layout']): readonly string[] {
  const listed = (dir: string) => (existsSync(dir) ? readdirSync(dir, { withFileTypes: true }) : [])
  const named = (what: string, dir: string) => listed(dir).map(({ name }) => `${what} ${join(dir, name)}`)
  const sockets = listed(layout.runDir).filter((entry) => entry.isSocket())
  const halves = readdirSync(layout.home, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.(tmp|new|refused)$/.test(path),
  )
  return [
    ...named('file in the temp folder:', join(folder, 'tmp')),
    ...named('files of an ended agent:', layout.terminalsDir),
    ...named('outbox file', layout.outboxDir),
    ...sockets.map(({ name }) => `socket ${join(layout.runDir, name)}`),
    ...halves.map((path) => `half-written or refused file ${path}`),
  ]
}
