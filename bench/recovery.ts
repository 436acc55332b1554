/**
 * How long a new server needs until it knows its agents again: from the start of the process after a kill -9 until it
 * answers with the true status of every agent. Agents rest, work, ask for a permission or ask a question, in turn; what is
 * true is what each was told to do. The server's own log says where the time goes.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { systemClock } from '../src/async/clock-system.ts'
import { sleep } from '../src/async/wait.ts'
import { type Client, createClient } from '../src/client/client.ts'
import { parseServerFile } from '../src/protocol/home.ts'
import { createWorld, endWorld, removeWorld } from '../src/world/private-world.ts'
import { isQuick, median, report, round, type Sample } from './lib/measure.ts'

const root = dirname(import.meta.dirname)
const sizes = isQuick() ? [10, 25] : [10, 50, 100]
const runsPerSize = isQuick() ? 4 : 10
/** Agents that are started at the same time. */
const startsAtOnce = 4
const knownLimitMs = 60_000
const pollMs = 4

/** What every fourth agent is told, and the status that it has from then on. */
const roles = [
  { message: undefined, status: 'idle' },
  { message: 'slow 3600', status: 'processing' },
  { message: 'tool echo allowed', status: 'waiting_user_answer' },
  { message: 'ask Which colour? | Red | Blue', status: 'waiting_user_answer' },
] as const

type Run = { readonly knownMs: number; readonly readyMs: number }

const world = await createWorld({ clock: systemClock, env: process.env })
const expected = new Map<string, string>()
let server: ChildProcess | undefined

/** Starts the server; resolves once its file says that its doors are open. */
async function startServer(): Promise<Client> {
  rmSync(world.layout.serverFile, { force: true })
  server = spawn(join(root, 'bin', 'cao-server'), [], { env: world.env, cwd: world.folder, stdio: 'ignore' })
  const endMs = performance.now() + knownLimitMs
  for (;;) {
    const file = readServerFile()
    if (file !== undefined) return createClient({ socketPath: file.socket_path })
    if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}`)
    if (performance.now() > endMs) throw new Error('the server did not open its doors')
    await sleep(systemClock, pollMs)
  }
}

function readServerFile() {
  try {
    return parseServerFile(readFileSync(world.layout.serverFile, 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

async function killServer(): Promise<void> {
  const dying = server
  if (dying === undefined) return
  const ended = new Promise((resolve) => dying.once('exit', resolve))
  dying.kill('SIGKILL')
  await ended
}

/** Agents whose status is not the true one. */
async function countWrong(client: Client): Promise<number> {
  const terminals = await client.listTerminals()
  const known = new Map(terminals.map(({ id, status }) => [id, status]))
  return [...expected].filter(([id, status]) => known.get(id) !== status).length
}

async function awaitTruth(client: Client): Promise<void> {
  const endMs = performance.now() + knownLimitMs
  for (;;) {
    const wrong = await countWrong(client)
    if (wrong === 0) return
    if (performance.now() > endMs) throw new Error(`${wrong} of ${expected.size} agents have a wrong status`)
    await sleep(systemClock, pollMs)
  }
}

async function addAgents(client: Client, upTo: number): Promise<void> {
  let next = expected.size
  const startSome = async () => {
    while (next < upTo) {
      const role = roles[next++ % roles.length] ?? roles[0]
      const { id } = await client.createSession({
        agent_profile: 'developer',
        provider: 'scripted',
        working_directory: world.projectDir,
      })
      expected.set(id, role.status)
      if (role.message !== undefined) await client.sendMessage(id, { message: role.message, sender_id: 'bench' })
    }
  }
  await Promise.all(Array.from({ length: startsAtOnce }, startSome))
  await awaitTruth(client)
}

async function recoverOnce(): Promise<Run> {
  await killServer()
  const startedMs = performance.now()
  const client = await startServer()
  const readyMs = performance.now() - startedMs
  await awaitTruth(client)
  return { knownMs: performance.now() - startedMs, readyMs }
}

const sampleOf = (name: string, values: readonly number[]): Sample => ({
  name,
  sortedMs: values.toSorted((a, b) => a - b),
})

let client = await startServer()
try {
  const samples: Sample[] = []
  for (const size of sizes) {
    await addAgents(client, size)
    await recoverOnce()
    const runs: Run[] = []
    for (let run = 0; run < runsPerSize; run++) runs.push(await recoverOnce())
    samples.push(
      sampleOf(
        `${size} agents known`,
        runs.map(({ knownMs }) => knownMs),
      ),
      sampleOf(
        `  ${size}: doors open`,
        runs.map(({ readyMs }) => readyMs),
      ),
    )
    client = createClient({ socketPath: readServerFile()?.socket_path ?? '' })
  }
  const largest = samples.at(-2)
  report('recovery', samples, {
    agents_max: expected.size,
    known_p50_ms: largest === undefined ? null : round(median(largest), 1),
    goal_ms_at_100: 400,
  })
} finally {
  for (const problem of await endWorld(world, client)) console.error(problem)
  await removeWorld(world)
}
