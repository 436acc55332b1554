/** One notifier on a real store, with a clock that is moved by hand and a channel that writes down what it was told. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ManualClock } from '../async/clock-manual.ts'
import type { DomainEventBody } from '../domain/events.ts'
import type { QuestionId, SessionName, TerminalId } from '../domain/ids.ts'
import { minuteOfDay, type NoticeKind } from '../domain/notice-kind.ts'
import { silentLog } from '../lib/log.ts'
import { openStore } from '../store/sqlite/open.ts'
import type { Store } from '../store/store.ts'
import type { ToldOutcome } from './channel.ts'
import type { NoticePayload } from './notice.ts'
import { dueMax, Notifier, type NotifyRules, retryPausesMs } from './notifier.ts'

const batchMs = 5_000
const terminalId = 'aaaaaaaa' as TerminalId
let dir = ''
let store: Store
let clock: ManualClock
let told: NoticePayload[] = []
let outcomes: ToldOutcome[] = []
let givenUp: string[] = []
let answered: Set<string>
let stop: AbortController
let notifier: Notifier
let running: Promise<unknown>

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'cao-notify-'))
  store = openStore({ path: join(dir, 'cao.db') })
  clock = new ManualClock()
  told = []
  outcomes = []
  givenUp = []
  answered = new Set()
})
afterEach(async () => {
  await end()
  store[Symbol.dispose]()
  rmSync(dir, { recursive: true, force: true })
})

function begin(changes: Partial<NotifyRules> = {}): void {
  stop = new AbortController()
  notifier = new Notifier({
    channel: {
      name: 'test',
      tell: (payload) => {
        told.push(payload)
        return Promise.resolve(outcomes.shift() ?? { kind: 'told', detail: '' })
      },
    },
    rules: { kinds: new Set<NoticeKind>(['question', 'lost']), quiet: undefined, batchMs, ...changes },
    store,
    clock,
    log: silentLog,
    isDue: ({ questionId }) => questionId === undefined || !answered.has(questionId),
    who: () => ({ sessionName: 'cao-x', profileName: 'developer' }),
    onGivenUp: (channel, count, why) => givenUp.push(`${channel} ${count} ${why}`),
  })
  running = notifier.run(stop.signal).catch((error: unknown) => error)
}

async function end(): Promise<void> {
  stop?.abort(new Error('over'))
  await running
}

function happen(body: DomainEventBody): void {
  notifier.note(store.transaction(() => store.events.append(body, clock.nowMs())))
}

const ask = (id: string): void =>
  happen({ type: 'question.opened', questionId: id as QuestionId, terminalId, text: `may I ${id}?`, options: ['yes'] })
const texts = (): readonly (readonly string[])[] => told.map(({ notices }) => notices.map(({ text }) => text))

test('a burst is one call, after the time in which it is gathered', async () => {
  begin()
  ask('q-1')
  await clock.advance(batchMs - 1_000)
  ask('q-2')
  expect(told).toEqual([])
  await clock.advance(1_000)
  expect(texts()).toEqual([['may I q-1?', 'may I q-2?']])
  expect(told[0]).toMatchObject({ version: 1, type: 'notices', title: 'CAO: 2 notices', more: 0, gap: false })
  expect(told[0]?.notices[0]).toMatchObject({
    kind: 'question',
    terminal_id: terminalId,
    session_name: 'cao-x',
    agent_profile: 'developer',
    question_id: 'q-1',
    options: ['yes'],
  })
  await clock.advance(600_000)
  expect(told).toHaveLength(1)
})

test('what was answered meanwhile, and what is of no wanted kind, is not told', async () => {
  begin()
  ask('q-1')
  answered.add('q-1')
  happen({ type: 'session.deleted', sessionName: 'cao-x' as SessionName })
  happen({ type: 'terminal.life_changed', terminalId, from: 'live', to: 'exited', detail: 'exit code 1' })
  await clock.advance(600_000)
  expect(told).toEqual([])
})

test('what was due and not told when the server ended is told once after its start, and nothing twice', async () => {
  begin()
  ask('q-1')
  await clock.advance(batchMs)
  ask('q-2')
  await end()
  begin()
  await clock.advance(batchMs)
  await end()
  begin()
  await clock.advance(600_000)
  expect(texts()).toEqual([['may I q-1?'], ['may I q-2?']])
})

test('what happened before anybody was to be told is no news', async () => {
  begin()
  await end()
  store.setFact('notify_cursor:test', '')
  ask('q-1')
  begin()
  await clock.advance(600_000)
  expect(told).toEqual([])
})

test('in quiet hours nothing is told, and after them all that is still so, at once', async () => {
  const fromMinute = minuteOfDay(clock.nowMs())
  begin({ quiet: { fromMinute, toMinute: (fromMinute + 60) % 1_440 } })
  ask('q-1')
  ask('q-2')
  await clock.advance(50 * 60_000)
  ask('q-3')
  answered.add('q-1')
  expect(told).toEqual([])
  await clock.advance(11 * 60_000)
  expect([texts(), told[0]?.type]).toEqual([[['may I q-2?', 'may I q-3?']], 'digest'])
})

test('a channel that fails is tried again, at last given up, and then the next is told', async () => {
  const failed: ToldOutcome = { kind: 'failed', why: 'no answer', isFinal: false }
  outcomes = [failed, { kind: 'told', detail: '' }]
  begin()
  ask('q-1')
  await clock.advance(batchMs)
  expect([told.length, notifier.state.last?.isTold]).toEqual([1, false])
  await clock.advance(retryPausesMs[0])
  expect([texts(), givenUp]).toEqual([[['may I q-1?'], ['may I q-1?']], []])
  outcomes = Array.from({ length: retryPausesMs.length + 1 }, () => failed)
  ask('q-2')
  await clock.advance(600_000)
  expect([told.length, givenUp]).toEqual([2 + retryPausesMs.length + 1, ['test 1 no answer']])
  ask('q-3')
  await clock.advance(batchMs)
  expect(texts().at(-1)).toEqual(['may I q-3?'])
})

test('one that can not succeed is not tried again, and an answer that comes meanwhile ends the trying', async () => {
  outcomes = [{ kind: 'failed', why: 'gone', isFinal: true }]
  begin()
  ask('q-1')
  await clock.advance(600_000)
  expect([told.length, givenUp]).toEqual([1, ['test 1 gone']])
  outcomes = [{ kind: 'failed', why: 'later', isFinal: false }]
  ask('q-2')
  await clock.advance(batchMs)
  answered.add('q-2')
  await clock.advance(600_000)
  expect(told).toHaveLength(2)
})

test('more than one call holds is counted, more than is due at once comes after it, and a hole in the log is said', async () => {
  begin()
  for (let count = 0; count < dueMax + 3; count++) ask(`q-${count}`)
  expect(notifier.state.due).toBe(dueMax)
  await clock.advance(4 * batchMs)
  expect(told.map(({ notices, more }) => [notices.length, more])).toEqual([
    [50, dueMax - 50],
    [3, 0],
  ])
  await end()
  ask('q-lost')
  for (let count = 0; count < 5; count++) happen({ type: 'session.deleted', sessionName: 'cao-x' as SessionName })
  store.transaction(() => store.events.trim(2))
  begin()
  await clock.advance(batchMs)
  expect(told.at(-1)).toMatchObject({
    gap: true,
    notices: [],
    text: expect.stringContaining('older events') as unknown,
  })
})
