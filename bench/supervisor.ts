/**
 * What a supervisor has to read: ten workers finish tasks over and over, a hundred results in all, while the supervisor is at
 * work. Turns and characters that it took, by its own record, against what the same results of the same run would have been
 * one by one: a turn for each, with its text whole.
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { systemClock } from '../src/async/clock-system.ts'
import { createWorld, endWorld, removeWorld, startWorld } from '../src/world/private-world.ts'
import { isQuick, report } from './lib/measure.ts'

const root = dirname(import.meta.dirname)
const workersCount = isQuick() ? 4 : 10
const rounds = isQuick() ? 5 : 10
const workMs = 1_000
const limitMs = isQuick() ? 45_000 : 240_000
/** Of one result: a first line, and as much as a worker may have to say. */
const longResult = 'word '.repeat(300).trim()

const world = await createWorld({ clock: systemClock, env: process.env, name: 'bench' })
const signal = new AbortController().signal
const server = [join(root, 'bin', 'cao-server')]
const client = await startWorld(world, { clock: systemClock, env: world.env, signal, server })
try {
  const given = { agent_profile: 'developer', provider: 'scripted', working_directory: world.projectDir }
  const boss = await client.createSession(given)
  const workers = await Promise.all(
    Array.from({ length: workersCount }, () =>
      client.createTerminal(boss.session_name, { ...given, caller_id: boss.id }),
    ),
  )
  const startedMs = performance.now()
  let seenSeq = 0
  const ids: number[] = []
  // A busy supervisor: each text that it takes costs it a turn.
  await client.sendInput(boss.id, { message: `wait ${workMs}\nreply ready`, wait_s: 0 })
  for (let round = 0; round < rounds; round++) {
    const jobs = await Promise.all(
      workers.map(({ id }, index) =>
        client.startJob({
          kind: 'assign',
          agent_profile: 'developer',
          message: `reply result ${round}-${index}\\n${index % 3 === 0 ? longResult : 'all is well'}\\nwait 300`,
          reuse_terminal_id: id,
          caller_id: boss.id,
        }),
      ),
    )
    await Promise.all(jobs.map(({ id }) => client.getJob(id, 60)))
  }
  const total = workersCount * rounds
  let callbacks = await list()
  while (callbacks.some(({ status }) => status === 'pending') || callbacks.length < total) {
    if (performance.now() - startedMs > limitMs) throw new Error(`${callbacks.length} of ${total} results came in time`)
    await new Promise((resolve) => setTimeout(resolve, 250))
    callbacks = await list()
  }
  const taken = readTaken(boss.id)
  const text = taken.join('\n')
  const missing = callbacks.filter(({ message }) => !text.includes(message.split('\n')[1] ?? message))
  if (missing.length > 0) throw new Error(`${missing.length} results never reached the supervisor`)
  const doubled = callbacks.filter(({ message }) => text.split(`${message.split('\n')[1]}\n`).length > 2)
  const baseline = callbacks.reduce(
    (sum, { message }) => sum + message.length + '[cao callback 0123456789ab from 01234567]\n'.length,
    0,
  )
  report('supervisor', [], {
    workers: workersCount,
    callbacks: callbacks.length,
    turns: taken.length,
    characters: text.length,
    baseline_turns: callbacks.length,
    baseline_characters: baseline,
    turns_fewer: Math.round((callbacks.length / taken.length) * 10) / 10,
    lost: missing.length,
    doubled: doubled.length,
    took_s: Math.round((performance.now() - startedMs) / 1_000),
  })
  process.exitCode = doubled.length === 0 ? 0 : 1

  /** Rows of the results, as far as they are queued; a list of an inbox is shorter than all of them. */
  async function list() {
    for (;;) {
      const { events, last_seq } = await client.listEvents({ after: seenSeq, limit: 500 })
      for (const event of events) {
        seenSeq = event.seq
        if (event.type === 'message.queued' && event.kind === 'callback') ids.push(event.message_id)
      }
      if (events.length === 0 || seenSeq >= last_seq) break
    }
    const rows = []
    for (const id of ids) rows.push(await client.getMessage(id))
    return rows
  }
} finally {
  for (const problem of await endWorld(world, client)) console.error(problem)
  await removeWorld(world)
}

/** What it took from CAO, by its own record. */
function readTaken(id: string): readonly string[] {
  const path = join(world.env['CAO_HOME'] ?? '', 'terminals', id, 'private', 'transcript.jsonl')
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { readonly type: string; readonly text: string })
    .filter(({ type, text }) => type === 'user' && text.startsWith('[cao '))
    .map(({ text }) => text)
}
