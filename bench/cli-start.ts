/**
 * What a command costs before it does anything: `cao ls` as a new process against `node -e 0` with the same Node, in
 * turn, with a server that runs in a private world.
 */
import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { systemClock } from '../src/async/clock-system.ts'
import { createWorld, endWorld, removeWorld, startWorld } from '../src/world/private-world.ts'
import { isQuick, measureInTurn, median, report, round, type Sample } from './lib/measure.ts'

const run = promisify(execFile)
const root = dirname(import.meta.dirname)
const timesMax = 3

const world = await createWorld({ clock: systemClock, env: process.env, name: 'bench' })
const { env, projectDir: cwd } = world
const signal = new AbortController().signal
const client = await startWorld(world, {
  clock: systemClock,
  env,
  signal,
  server: [join(root, 'bin', 'cao-server')],
})
try {
  const start = async (file: string, args: readonly string[]) => {
    await run(file, [...args], { env, cwd })
  }
  const samples = await measureInTurn(
    [
      { name: 'node -e 0', run: () => start(process.execPath, ['-e', '0']) },
      { name: 'cao --version', run: () => start(join(root, 'bin', 'cao'), ['--version']) },
      { name: 'cao ls', run: () => start(join(root, 'bin', 'cao'), ['ls']) },
    ],
    { warmUpRounds: 3, roundsMax: isQuick() ? 40 : 200, totalMs: isQuick() ? 25_000 : 120_000 },
  )
  const of = (name: string): Sample => samples.find((sample) => sample.name === name) ?? { name, sortedMs: [] }
  const times = round(median(of('cao ls')) / median(of('node -e 0')), 2)
  report('cli-start', samples, { times_node: times, times_max: timesMax, is_within: times <= timesMax })
} finally {
  const problems = await endWorld(world, client)
  for (const problem of problems) console.error(problem)
  await removeWorld(world)
}
