/**
 * What a handoff costs beyond the agent's own work: the worker is told to do nothing for a known time and then to
 * answer, and all the rest is ours, from the call until the caller has the exact answer in hand and the worker is ended.
 * The events say where the time goes. The agent is the scripted one, so that starting it costs little.
 */
import { dirname, join } from 'node:path'
import { systemClock } from '../src/async/clock-system.ts'
import type { Client } from '../src/client/client.ts'
import type { EventBody } from '../src/protocol/event.ts'
import { createWorld, endWorld, removeWorld, startWorld } from '../src/world/private-world.ts'
import { isQuick, median, quantile, report, round, type Sample } from './lib/measure.ts'

const root = dirname(import.meta.dirname)
/** What the agent takes by itself. Units: ms. */
const workMs = 300
const runsMax = isQuick() ? 20 : 100
const totalMs = isQuick() ? 30_000 : 180_000

/** Where the time of one handoff goes, by the events that begin and end each part. Units: ms. */
const parts = [
  'start the program',
  'type the task',
  'prove its arrival',
  'work',
  'see the end',
  'tell the caller',
] as const
type Part = (typeof parts)[number]
type Run = { readonly totalMs: number; readonly partsMs: Readonly<Record<Part, number>> }

async function runOnce(client: Client, after: number, cwd: string): Promise<Run> {
  const beforeMs = Date.now()
  const startedMs = performance.now()
  const job = await client.startJob({
    kind: 'handoff',
    agent_profile: 'developer',
    provider: 'scripted',
    message: `Do this.\nwait ${workMs}\nreply done`,
    working_directory: cwd,
    teardown: true,
  })
  const ended = await client.getJob(job.id, 60)
  const tookMs = performance.now() - startedMs
  if (ended.output !== 'done') throw new Error(`the worker said ${JSON.stringify(ended)}`)
  const { events } = await client.listEvents({ after, limit: 500 })
  return { totalMs: tookMs, partsMs: split(events, beforeMs, beforeMs + tookMs) }
}

function split(events: readonly EventBody[], beforeMs: number, afterMs: number): Record<Part, number> {
  const at = (test: (event: EventBody) => boolean) => Date.parse(events.find(test)?.at ?? '')
  const moved = (to: string) => at((event) => event.type === 'message.state_changed' && event.to === to)
  const ready = at((event) => event.type === 'job.state_changed' && event.to === 'running')
  const [typed, confirmed] = [moved('typed'), moved('confirmed')]
  const answered = at((event) => event.type === 'job.state_changed' && event.to === 'answered')
  return {
    'start the program': ready - beforeMs,
    'type the task': typed - ready,
    'prove its arrival': confirmed - typed,
    work: workMs,
    'see the end': answered - confirmed - workMs,
    'tell the caller': afterMs - answered,
  }
}

const sampleOf = (name: string, values: readonly number[]): Sample => ({
  name,
  sortedMs: values.toSorted((a, b) => a - b),
})

const world = await createWorld({ clock: systemClock, env: process.env, name: 'bench' })
const signal = new AbortController().signal
const client = await startWorld(world, {
  clock: systemClock,
  env: world.env,
  signal,
  server: [join(root, 'bin', 'cao-server')],
})
try {
  const runs: Run[] = []
  const startedMs = performance.now()
  await runOnce(client, 0, world.projectDir)
  while (runs.length < runsMax && performance.now() - startedMs < totalMs) {
    const { last_seq } = await client.listEvents({ limit: 1 })
    runs.push(await runOnce(client, last_seq, world.projectDir))
  }
  const total = sampleOf(
    'handoff',
    runs.map((run) => run.totalMs),
  )
  const overhead = sampleOf(
    'overhead',
    runs.map((run) => run.totalMs - workMs),
  )
  const bySample = parts.map((part) =>
    sampleOf(
      `  ${part}`,
      runs.map(({ partsMs }) => partsMs[part]),
    ),
  )
  report('handoff', [total, overhead, ...bySample], {
    agent_ms: workMs,
    overhead_p50_ms: round(median(overhead), 1),
    overhead_p90_ms: round(quantile(overhead, 0.9), 1),
  })
} finally {
  for (const problem of await endWorld(world, client)) console.error(problem)
  await removeWorld(world)
}
