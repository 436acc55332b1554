/**
 * 10,000 sends (`--quick`: 600) among 20 scripted agents: half come over HTTP, and each of those makes its receiver send
 * one more by its own MCP tool. One in a hundred receivers swallows the next Enter, one in a hundred paints the next draft
 * late, one in a hundred shows a dialog while more is on its way. What became of each is judged from the agents' own
 * records and CAO's rows by the checker of `npm run chaos`; the times come from the events.
 */
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { systemClock } from '../src/async/clock-system.ts'
import { sleep } from '../src/async/wait.ts'
import { judge } from '../src/chaos/judge.ts'
import { Ledger, ourName } from '../src/chaos/ledger.ts'
import { Random } from '../src/chaos/random.ts'
import { type AgentRecords, readAgent, readStore } from '../src/chaos/records.ts'
import { markerOf } from '../src/chaos/traffic-plan.ts'
import type { Client } from '../src/client/client.ts'
import { AppError } from '../src/domain/errors.ts'
import { createWorld, endWorld, type PrivateWorld, removeWorld, startWorld } from '../src/world/private-world.ts'
import { isQuick, quantile, report, round, type Sample } from './lib/measure.ts'

const root = dirname(import.meta.dirname)
const agents = 20
const sends = isQuick() ? 600 : 10_000
const seed = 1
/** Messages that wait at one agent, at most: enough that order matters. */
const openPerAgent = 3
/** From one send to the next, each of which makes one more: what is measured is the way of a message, not a full machine. Units: ms. */
const paceMs = 100
const faultShare = 0.01
const slowPaintMs = 500
const dialogMs = 300
const totalLimitMs = isQuick() ? 120_000 : 25 * 60_000
const sendWaitMs = 20
const settledWaitMs = 100

type Fault = 'swallow' | 'slow' | 'dialog'
const faultLines: Readonly<Record<Fault, string>> = {
  swallow: 'swallow-enter 1',
  slow: `slow-paint ${slowPaintMs}`,
  dialog: 'ask Shall it go on? | Yes | No',
}

function pickFault(random: Random): Fault | undefined {
  const chance = random.next()
  if (chance < faultShare) return 'swallow'
  if (chance < 2 * faultShare) return 'slow'
  return chance < 3 * faultShare ? 'dialog' : undefined
}

/** Sends and what they make their receivers send, until as many are on their way as the bench is to have. */
async function sendAll(client: Client, ids: readonly string[], ledger: Ledger): Promise<Record<Fault, number>> {
  const random = new Random(seed)
  const faults = { swallow: 0, slow: 0, dialog: 0 }
  const isSlow = new Set<string>()
  let count = 0
  const nextMarker = () => markerOf(seed, ++count)
  const open = new Map<string, number[]>(ids.map((id) => [id, []]))
  const startMs = systemClock.monotonicMs()
  const endMs = startMs + totalLimitMs
  for (let round = 0; ledger.sends.length < sends; round++) {
    await sleep(systemClock, Math.max(0, startMs + round * paceMs - systemClock.monotonicMs()))
    if (systemClock.monotonicMs() > endMs) throw new Error(`only ${ledger.sends.length} of ${sends} sends in time`)
    const receiverId = ids[random.whole(0, ids.length - 1)] ?? ''
    const waiting = open.get(receiverId) ?? []
    while (waiting.length >= openPerAgent) {
      const state = (await client.getMessage(waiting[0] ?? 0)).state
      if (['queued', 'leased', 'typing', 'typed', 'confirmed', 'turn_started'].includes(state)) {
        await sleep(systemClock, sendWaitMs)
        if (systemClock.monotonicMs() > endMs) throw new Error(`message ${waiting[0]} is ${state} for too long`)
      } else waiting.shift()
    }
    const target = ids[random.whole(0, ids.length - 1)] ?? ''
    const fault = pickFault(random)
    const lines = [
      ...(isSlow.delete(receiverId) ? ['slow-paint 0'] : []),
      ...(fault === undefined ? [] : [faultLines[fault]]),
    ]
    if (fault !== undefined) faults[fault]++
    if (fault === 'slow') isSlow.add(receiverId)
    const send = ledger.note({ marker: nextMarker(), via: 'http', senderId: ourName, receiverId })
    const relayed = nextMarker()
    if (target !== receiverId) {
      ledger.note({ marker: relayed, via: 'agent', senderId: receiverId, receiverId: target })
      lines.push(`call send_message ${JSON.stringify({ receiver_id: target, message: relayed })}`)
    }
    const text = [send.marker, ...lines, 'reply ok'].join('\n')
    const sent = await client.sendMessage(receiverId, { message: text, sender_id: ourName })
    send.isAccepted = sent.success
    send.messageId = sent.message_id
    waiting.push(sent.message_id)
  }
  return faults
}

/** Lets each dialog stand for a while and answers it. */
async function answerDialogs(client: Client, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const { id, terminal_id, opened_at } of await client.listQuestions()) {
      if (Date.now() - Date.parse(opened_at) < dialogMs) continue
      // It may have closed since it was listed.
      await client.answerQuestion(terminal_id, { answer: 'Yes', question_id: id }).catch((error: unknown) => {
        if (!(error instanceof AppError && error.code === 'CONFLICT')) throw error
      })
    }
    await sleep(systemClock, settledWaitMs, signal).catch(() => undefined)
  }
}

async function waitUntilSettled(path: string): Promise<void> {
  const endMs = systemClock.monotonicMs() + 120_000
  for (;;) {
    const left = readStore(path).messages.filter(({ state }) =>
      ['queued', 'leased', 'typing', 'typed', 'confirmed', 'turn_started'].includes(state),
    )
    if (left.length === 0) return
    if (systemClock.monotonicMs() > endMs) return
    await sleep(systemClock, settledWaitMs * 5)
  }
}

type Line = { readonly atMs: number; readonly body: Readonly<Record<string, unknown>> }

function readEvents(path: string): readonly Line[] {
  using database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
  return database
    .prepare('SELECT at_ms, body FROM events ORDER BY seq')
    .all()
    .map((row) => ({ atMs: Number(row['at_ms']), body: JSON.parse(String(row['body'])) as Line['body'] }))
}

const parts = ['idle to typing', 'typing to typed', 'typed to confirmed', 'idle to confirmed'] as const
type Part = (typeof parts)[number]

/** `idle`: the message was there and its receiver rested. */
function measureParts(events: readonly Line[]): readonly Sample[] {
  const durations: Record<Part, number[]> = {
    'idle to typing': [],
    'typing to typed': [],
    'typed to confirmed': [],
    'idle to confirmed': [],
  }
  const reachedAt = new Map<string, number>()
  const restsSince = new Map<unknown, number>()
  for (const { atMs, body } of events) {
    const { type, messageId, receiverId, terminalId, to } = body
    const at = (state: string) => reachedAt.get(`${String(messageId)} ${state}`) ?? Number.NaN
    const note = (state: string, whenMs: number) => reachedAt.set(`${String(messageId)} ${state}`, whenMs)
    const since = (part: Part, fromMs: number) => {
      if (fromMs <= atMs) durations[part].push(atMs - fromMs)
    }
    if (type === 'terminal.status_changed' && (to === 'idle' || to === 'completed')) restsSince.set(terminalId, atMs)
    if (type === 'message.queued') note('queued', atMs)
    if (type !== 'message.state_changed') continue
    note(String(to), atMs)
    if (to === 'typing') {
      const idleMs = Math.max(at('queued'), restsSince.get(receiverId) ?? 0)
      note('idle', idleMs)
      since('idle to typing', idleMs)
    }
    if (to === 'typed') since('typing to typed', at('typing'))
    if (to === 'confirmed') {
      since('typed to confirmed', at('typed'))
      since('idle to confirmed', at('idle'))
    }
  }
  return parts.map((name) => ({ name, sortedMs: durations[name].toSorted((one, two) => one - two) }))
}

function readRecords({ layout }: PrivateWorld, ids: readonly string[]): AgentRecords {
  return new Map(ids.map((id) => [id, readAgent(layout.terminalsDir, id) ?? []]))
}

const world = await createWorld({ clock: systemClock, env: process.env, name: 'bench' })
const never = new AbortController().signal
const server = [join(root, 'bin', 'cao-server')]
const client = await startWorld(world, { clock: systemClock, env: world.env, signal: never, server })
try {
  const first = { agent_profile: 'developer', provider: 'scripted', working_directory: world.projectDir }
  const { id: firstId, session_name } = await client.createSession(first)
  const ids = [firstId]
  while (ids.length < agents) ids.push((await client.createTerminal(session_name, first)).id)
  const ledger = new Ledger()
  const answering = new AbortController()
  const answers = answerDialogs(client, answering.signal)
  // Told where it is awaited; until then it must not end the bench without its clean-up.
  answers.catch(() => undefined)
  const beganMs = performance.now()
  const faults = await sendAll(client, ids, ledger)
  await waitUntilSettled(world.layout.dbFile)
  const tookS = (performance.now() - beganMs) / 1_000
  answering.abort()
  await answers
  const rows = readStore(world.layout.dbFile)
  const verdict = judge({
    sends: ledger.sends,
    jobs: [],
    rows,
    records: readRecords(world, ids),
    alive: new Set(ids),
  })
  const samples = measureParts(readEvents(world.layout.dbFile))
  const [whole = { name: '', sortedMs: [] }] = samples.slice(-1)
  const lists = [verdict.lost, verdict.doubled, verdict.falseClaims, verdict.outOfOrder, verdict.misplaced]
  for (const problem of [...lists.flat(), ...verdict.toldBad].slice(0, 20)) console.error(problem)
  console.log(`faults made: ${JSON.stringify(faults)}; ${round(verdict.accepted / tookS, 1)} sends a second`)
  report('delivery', samples, {
    sent: verdict.accepted,
    confirmed: verdict.confirmed,
    lost: verdict.lost.length,
    doubled: verdict.doubled.length,
    false_confirmed: verdict.falseClaims.length,
    reordered: verdict.outOfOrder.length,
    misplaced: verdict.misplaced.length,
    p50_ms: quantile(whole, 0.5),
    p95_ms: quantile(whole, 0.95),
    confirmed_share: round(verdict.confirmed / verdict.accepted, 5),
  })
  const isShort = verdict.accepted < ledger.sends.length || verdict.confirmed < 0.995 * verdict.accepted
  if (lists.flat().length > 0 || isShort) {
    process.exitCode = 1
  }
} finally {
  for (const problem of await endWorld(world, client)) console.error(problem)
  await removeWorld(world)
}
