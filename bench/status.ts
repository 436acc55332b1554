/**
 * What knowing costs, and how late it comes: fifty agents, of which one half calls hooks and the other none, so that only
 * its screen tells. At rest: no program may be started for them. At work, each paints ten pictures a second. Then turns,
 * with questions, alone and beside a pane that prints 100 MB. What was told is held against the agents' own records.
 */
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { systemClock } from '../src/async/clock-system.ts'
import { sleep } from '../src/async/wait.ts'
import type { Client } from '../src/client/client.ts'
import { findProcesses } from '../src/world/find-processes.ts'
import { createWorld, endWorld, removeWorld, startWorld } from '../src/world/private-world.ts'
import { startMachineProbe } from './lib/machine-probe.ts'
import { isQuick, quantile, report, round, type Sample } from './lib/measure.ts'
import { readChildFaults, startCpuWatch } from './lib/process-times.ts'
import { type Delay, kinds, runTurns, type StatusAgent, type TurnsOutcome } from './lib/status-turns.ts'

const root = dirname(import.meta.dirname)
const agentsMax = isQuick() ? 16 : 50
const startsAtOnce = 4
const idleMs = isQuick() ? 5_000 : 30_000
const spinMs = isQuick() ? 5_000 : 30_000
const turnsMs = isQuick() ? 8_000 : 90_000
const floodKib = (isQuick() ? 20 : 100) * 1_024
const workMs = isQuick() ? ([500, 2_000] as const) : ([3_000, 9_000] as const)
/** After the start of the last agent, and after the last turn: nothing is due any more. */
const restMs = 10_000
const stepLimitMs = 120_000
const spinner = '--spinner-ms 100'
/** Issue goals, p95. Units: ms. */
const goals = {
  hook: { working: 30, waiting: 30, finished: 30 },
  screen: { working: 250, waiting: 250, finished: 1_000 },
} as const

const world = await createWorld({ clock: systemClock, env: process.env, name: 'bench' })

async function startAgent(client: Client, flags: string, by: StatusAgent['by']): Promise<StatusAgent> {
  const { id } = await client.createSession({
    agent_profile: 'developer',
    provider: 'scripted',
    working_directory: world.projectDir,
    env_vars: { SCRIPTED_AGENT_FLAGS: `${spinner} ${flags}` },
  })
  const tell = by === 'hook' ? (message: string) => client.sendInput(id, { message }) : createHands(id)
  return { id, by, tell, transcript: join(world.layout.terminalsDir, id, 'private', 'transcript.jsonl') }
}

const runTmux = (...args: readonly string[]): string => {
  const words = ['-S', join(world.layout.runDir, 'tmux.sock'), ...args]
  return execFileSync('tmux', words, { env: world.env, encoding: 'utf8' }).trim()
}

/** Pastes into the pane of a terminal, and presses Enter. */
function createHands(id: string): (message: string) => Promise<void> {
  const panes = runTmux('list-panes', '-a', '-F', '#{@cao_terminal_id} #{pane_id}').split('\n')
  const pane = panes.find((line) => line.startsWith(`${id} `))?.split(' ')[1] ?? ''
  return async (message) => {
    const name = randomUUID()
    const paste = ['paste-buffer', '-p', '-r', '-d', '-b', name, '-t', pane]
    runTmux('set-buffer', '-b', name, message, ';', ...paste, ';', 'send-keys', '-t', pane, 'Enter')
    return Promise.resolve()
  }
}

async function startAgents(client: Client): Promise<readonly StatusAgent[]> {
  const started: StatusAgent[] = []
  let next = 0
  const startSome = async () => {
    while (next < agentsMax) {
      const by = next++ % 2 === 0 ? 'hook' : 'screen'
      started.push(await startAgent(client, by === 'hook' ? '' : '--ignore-hooks', by))
    }
  }
  await Promise.all(Array.from({ length: startsAtOnce }, startSome))
  return started
}

async function awaitAll(client: Client, agents: readonly StatusAgent[], status: string): Promise<void> {
  const ids = new Set(agents.map(({ id }) => id))
  const endMs = performance.now() + stepLimitMs
  for (;;) {
    const wrong = (await client.listTerminals()).filter((each) => ids.has(each.id) && each.status !== status)
    if (wrong.length === 0) return
    if (performance.now() > endMs) throw new Error(`${wrong.length} agents are not ${status}`)
    await sleep(systemClock, 100)
  }
}

async function readPids(client: Client): Promise<{ readonly server: number; readonly tmux: number }> {
  return { server: (await client.health()).pid ?? 0, tmux: Number(runTmux('display-message', '-p', '#{pid}')) }
}

type Pids = Awaited<ReturnType<typeof readPids>>

/** Share of a core of server and tmux, in percent, while `durationMs` pass. */
async function measureCpu(pids: Pids, durationMs: number): Promise<Readonly<Record<keyof Pids, number>>> {
  const stop = startCpuWatch(pids)
  await sleep(systemClock, durationMs)
  const { server, tmux } = stop()
  return { server: round(server * 100, 2), tmux: round(tmux * 100, 2) }
}

/** Agents that do nothing: what it costs, and how many programs were started by any process of this world. */
async function measureIdle(pids: Pids) {
  const before = await findProcesses(world.folder)
  const faults = readChildFaults(before.map(({ pid }) => pid))
  const cpu = await measureCpu(pids, idleMs)
  const after = await findProcesses(world.folder)
  const known = new Set(before.map(({ pid }) => pid))
  const stayed = after.filter(({ pid }) => !known.has(pid)).map(({ command }) => command)
  const later = readChildFaults([...known])
  const ended = before.filter(({ pid }) => later.get(pid) !== faults.get(pid)).map(({ command }) => command)
  return { cpu, started: [...stayed, ...ended] }
}

async function measureSpinning(client: Client, agents: readonly StatusAgent[], pids: Pids) {
  const message = `wait ${spinMs + 10_000}\nreply done`
  await Promise.all(agents.map(({ tell }) => tell(message)))
  await awaitAll(client, agents, 'processing')
  await sleep(systemClock, 1_000)
  const cpu = await measureCpu(pids, spinMs)
  await awaitAll(client, agents, 'completed')
  return cpu
}

const takeTurns = (client: Client, agents: readonly StatusAgent[], isOver: () => boolean): Promise<TurnsOutcome> =>
  runTurns({ client, agents, workMs, isOver })

/** The others take turns until the pane has printed all. */
async function measureBesideFlood(client: Client, agents: readonly StatusAgent[]) {
  const flooder = await startAgent(client, '--screen inline', 'hook')
  const startedMs = performance.now()
  let tookMs: number | undefined
  let rounds = 0
  const flooding = (async () => {
    // Again, when it is too quick for the others to have had their turns.
    for (; performance.now() - startedMs < turnsMs / 2 || rounds === 0; rounds++) {
      const from = performance.now()
      await flooder.tell(`flood ${floodKib}`)
      await awaitAll(client, [flooder], 'processing')
      await awaitAll(client, [flooder], 'completed')
      tookMs = performance.now() - from
    }
  })()
  let isOver = false
  const turns = takeTurns(client, agents, () => isOver)
  await flooding.finally(() => {
    isOver = true
  })
  const outcome = await turns
  const bytes = statSync(join(world.layout.terminalsDir, flooder.id, 'output.log')).size
  await client.deleteTerminal(flooder.id)
  return { outcome, bytes, tookMs: round(tookMs ?? Number.NaN, 0), rounds }
}

function sampleOf(name: string, delays: readonly Delay[], by: Delay['by'], kind: Delay['kind']): Sample {
  const some = delays.filter((delay) => delay.by === by && delay.kind === kind)
  return { name: `${name}${by}: ${kind}`, sortedMs: some.map(({ ms }) => ms).toSorted((a, b) => a - b) }
}

const groups = (['hook', 'screen'] as const).flatMap((by) => kinds.map((kind) => ({ by, kind })))
const samplesOf = (name: string, { delays }: TurnsOutcome): readonly Sample[] =>
  groups.map(({ by, kind }) => sampleOf(name, delays, by, kind))

function quantilesOf(outcome: TurnsOutcome) {
  const entries = groups.map(({ by, kind }) => {
    const sample = sampleOf('', outcome.delays, by, kind)
    const [p50, p95, p99] = [0.5, 0.95, 0.99].map((q) => quantile(sample, q))
    return [`${by}_${kind}`, { p50, p95, p99, goal_p95: goals[by][kind] }]
  })
  return Object.fromEntries(entries) as Record<string, { p95: number; goal_p95: number }>
}

const server = [join(root, 'bin', 'cao-server')]
const signal = new AbortController().signal
const client = await startWorld(world, { clock: systemClock, env: world.env, signal, server })
try {
  const agents = await startAgents(client)
  const pids = await readPids(client)
  await sleep(systemClock, restMs)
  const idle = await measureIdle(pids)
  console.error(`at rest: ${JSON.stringify(idle)}`)
  const spinning = await measureSpinning(client, agents, pids)
  console.error(`at work: ${JSON.stringify(spinning)}`)
  const endMs = performance.now() + turnsMs
  const probe = startMachineProbe()
  const calm = await takeTurns(client, agents, () => performance.now() > endMs)
  const machine = await probe()
  const flood = await measureBesideFlood(client, agents)
  const delays = quantilesOf(calm)
  const faults = [...calm.faults, ...flood.outcome.faults]
  report('status', [...samplesOf('', calm), ...samplesOf('  beside a flood: ', flood.outcome)], {
    agents: agents.length,
    idle_cpu_percent: idle.cpu,
    idle_processes_started: idle.started.length,
    spinning_cpu_percent: spinning,
    turns: calm.turns,
    machine,
    delays_ms: delays,
    missed_goals: Object.keys(delays).filter((name) => (delays[name]?.p95 ?? 0) > (delays[name]?.goal_p95 ?? 0)),
    delays_beside_flood_ms: quantilesOf(flood.outcome),
    flood: { bytes: flood.bytes, took_ms: flood.tookMs, rounds: flood.rounds, turns: flood.outcome.turns },
    wrong_statuses: faults.length,
  })
  for (const fault of [...faults, ...idle.started.map((command) => `started at rest: ${command}`)]) console.error(fault)
  if (faults.length > 0 || idle.started.length > 0) process.exitCode = 1
} finally {
  for (const problem of await endWorld(world, client)) console.error(problem)
  await removeWorld(world)
}
