/**
 * Mass teardown, the long way: 200 rounds (`--quick`: 8), in each of which ten sessions are ended by three callers each
 * while ten others are created. Agents that take no part count; the run fails when one of them stops, when a creation or
 * a deletion fails, or when the tmux server is not the one it was.
 */
import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { systemClock } from '../src/async/clock-system.ts'
import { sleep } from '../src/async/wait.ts'
import type { Client } from '../src/client/client.ts'
import { createWorld, endWorld, type PrivateWorld, removeWorld, startWorld } from '../src/world/private-world.ts'
import { isQuick, report, type Sample } from './lib/measure.ts'
import { runTeardownRounds } from './lib/teardown-rounds.ts'

const root = dirname(import.meta.dirname)
const rounds = isQuick() ? 8 : 200
const sessions = 10
const bystanderCount = 3
const totalMs = isQuick() ? 40_000 : 30 * 60_000
/** A bystander writes four words a second; on a busy machine it may be late. */
const silenceLimitMs = 20_000

async function startBystander(client: Client, cwd: string): Promise<string> {
  const { id } = await client.createSession({
    agent_profile: 'developer',
    provider: 'scripted',
    working_directory: cwd,
  })
  await client.sendInput(id, { message: 'slow 7200' })
  return id
}

async function expectCounting(world: PrivateWorld, id: string): Promise<void> {
  const length = () => statSync(join(world.layout.terminalsDir, id, 'output.log')).size
  const before = length()
  const endMs = systemClock.monotonicMs() + silenceLimitMs
  while (length() === before) {
    if (systemClock.monotonicMs() > endMs) throw new Error(`bystander ${id} wrote nothing for ${silenceLimitMs} ms`)
    await sleep(systemClock, 20)
  }
}

const tmuxPid = ({ layout, env }: PrivateWorld): string => {
  const args = ['-S', join(layout.runDir, 'tmux.sock'), 'display-message', '-p', '#{pid}']
  return execFileSync('tmux', args, { env, encoding: 'utf8' }).trim()
}

const world = await createWorld({ clock: systemClock, env: process.env, name: 'bench' })
const server = [join(root, 'bin', 'cao-server')]
const signal = new AbortController().signal
const client = await startWorld(world, { clock: systemClock, env: world.env, signal, server })
try {
  const cwd = world.projectDir
  const bystanders = await Promise.all(Array.from({ length: bystanderCount }, () => startBystander(client, cwd)))
  const pid = tmuxPid(world)
  const startedMs = performance.now()
  const roundsMs: number[] = []
  let lastMs = startedMs
  const outcome = await runTeardownRounds({
    client,
    cwd,
    rounds,
    sessions,
    isOver: () => performance.now() - startedMs > totalMs,
    afterRound: async (round) => {
      for (const id of bystanders) await expectCounting(world, id)
      roundsMs.push(performance.now() - lastMs)
      lastMs = performance.now()
      if (round % 20 === 19) console.error(`round ${round + 1}, all ${bystanders.length} bystanders count on`)
    },
  })
  const sample: Sample = { name: 'round', sortedMs: roundsMs.toSorted((a, b) => a - b) }
  const isSameServer = tmuxPid(world) === pid
  report('teardown', [sample], { ...outcome, failures: outcome.failures.length, same_tmux_server: isSameServer })
  for (const failure of outcome.failures) console.error(failure)
  if (outcome.failures.length > 0 || !isSameServer) process.exitCode = 1
} finally {
  for (const problem of await endWorld(world, client)) console.error(problem)
  await removeWorld(world)
}
