/** Jobs on a real store and a clock that is moved by hand; what they ask of the other use cases is written down. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ManualClock } from '../async/clock-manual.ts'
import { Scope } from '../async/scope.ts'
import type { JobId, TerminalId } from '../domain/ids.ts'
import type { Job, JobKind } from '../domain/job.ts'
import type { Message } from '../domain/message.ts'
import { Ladder } from '../inbox/ladder.ts'
import { silentLog } from '../lib/log.ts'
import { layoutOf } from '../protocol/home.ts'
import { newTerminal } from '../store/rows.case.ts'
import { openStore } from '../store/sqlite/open.ts'
import type { Store } from '../store/store.ts'
import { EventStream } from './event-stream.ts'
import { Jobs } from './jobs.ts'
import { queueMessage } from './mailbox.ts'
import { createProfileFiles } from './profile-files.ts'

const supervisor = 'aaaaaaaa' as TerminalId
const worker = 'bbbbbbbb' as TerminalId
const waiting = { signal: new AbortController().signal }

let dir = ''
let store: Store
let clock: ManualClock
let jobs: Jobs
let scope: Scope
let deleted: TerminalId[] = []
let interrupted: TerminalId[] = []

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'cao-jobs-'))
  store = openStore({ path: join(dir, 'cao.db') })
  clock = new ManualClock()
  deleted = []
  interrupted = []
  let counter = 0
  const random = (digits: number) => (counter++).toString(16).padStart(digits, '0')
  const log = silentLog
  const events = new EventStream(store, log)
  const ladder = new Ladder({ store, clock, log, announce: events.announce })
  scope = new Scope(clock, (_name, error) => expect.unreachable(String(error)))
  const profiles = createProfileFiles({
    stores: async () => [
      { dir: join(import.meta.dirname, '../../profiles'), label: 'built-in', isNested: false, isBuiltIn: true },
    ],
    rules: async () => ({ roles: {}, variables: {} }),
  })
  const context = {
    store,
    clock,
    log,
    random,
    layout: layoutOf(dir),
    events,
    ladder,
    scope,
    profiles,
    runtimes: new Map(),
  }
  for (const id of [supervisor, worker]) insertLive(id)
  jobs = new Jobs(context, {
    startWorker: () => Promise.resolve({ id: worker, isReady: Promise.resolve() }),
    queue: (message) => queueMessage(context, message),
    deleteTerminal: (id) => {
      deleted.push(id)
      return Promise.resolve()
    },
    interrupt: (id) => {
      interrupted.push(id)
      return Promise.resolve()
    },
  })
})

afterEach(async () => {
  const closed = scope[Symbol.asyncDispose]()
  await clock.advance(10)
  await closed
  store[Symbol.dispose]()
  rmSync(dir, { recursive: true })
})

function insertLive(id: TerminalId): void {
  store.terminals.insert(newTerminal(id))
  store.terminals.step(id, 'open', { pane: { instanceId: 'i' as never, paneId: '%1' }, atMs: 1 })
}

const start = async (kind: JobKind, requestKey?: string): Promise<Job> => {
  const job = await jobs.start(
    {
      kind,
      profileName: 'developer',
      task: 'count',
      callerId: supervisor,
      timeoutMs: 3_600_000,
      teardown: kind === 'handoff',
      ...(requestKey === undefined ? {} : { requestKey }),
    },
    waiting,
  )
  await clock.advance(1)
  return job
}
const answer = (id: JobId, text: string) => jobs.end(id, 'answer', { answer: text, failure: undefined, source: 'hook' })
const inbox = (id: TerminalId): readonly Pick<Message, 'kind' | 'body'>[] =>
  store.messages.list(id, { limit: 100 }).map(({ kind, body }) => ({ kind, body }))

test('an assigned task is sent once, and its answer comes to the asker by itself', async () => {
  const job = await start('assign')
  expect(inbox(worker).map(({ kind }) => kind)).toEqual(['assign'])
  answer(job.id, 'forty-two')
  answer(job.id, 'again')
  expect(inbox(supervisor)).toEqual([{ kind: 'callback', body: `Result from developer (${worker}):\nforty-two` }])
  expect(jobs.require(job.id)).toMatchObject({ state: 'answered', isReported: true })
})

test('a worker that wrote to its asker by itself has reported', async () => {
  const job = await start('assign')
  const own = {
    token: 'ffffffffffff' as never,
    kind: 'send_message',
    senderId: worker,
    receiverId: supervisor,
  } as const
  store.messages.insert({ ...own, jobId: undefined, body: 'done: 42', createdAtMs: clock.nowMs() })
  answer(job.id, 'I told them')
  expect(inbox(supervisor).map(({ body }) => body)).toEqual(['done: 42'])
})

test('the same key is the same job, and the worker is started once', async () => {
  const first = await start('handoff', 'k')
  expect((await start('handoff', 'k')).id).toBe(first.id)
  expect(inbox(worker)).toHaveLength(1)
})

test('a handoff that is fetched is not called back; its worker ends with its answer', async () => {
  const job = await start('handoff')
  const fetched = jobs.wait(job.id, 60_000, waiting)
  answer(job.id, 'yes')
  expect(await fetched).toMatchObject({ state: 'answered', result: { answer: 'yes' } })
  await clock.advance(600_000)
  expect(inbox(supervisor)).toEqual([])
  expect(deleted).toEqual([worker])
})

test('a handoff whose asker was cut off is called back instead, once', async () => {
  const job = await start('handoff')
  answer(job.id, 'late')
  await clock.advance(30_000)
  expect(inbox(supervisor)).toEqual([])
  await clock.advance(600_000)
  expect(inbox(supervisor)).toEqual([{ kind: 'callback', body: `Result from developer (${worker}):\nlate` }])
  expect(await jobs.wait(job.id, 0, waiting)).toMatchObject({ result: { answer: 'late' } })
})

test('a deadline ends a job and says what its worker does; a worker that fails is left alive', async () => {
  const job = await start('handoff')
  await clock.advance(3_700_000)
  expect(jobs.require(job.id)).toMatchObject({
    state: 'timed_out',
    result: { failure: expect.stringContaining('no answer in time') },
  })
  expect(deleted).toEqual([])
  answer(job.id, 'too late')
  expect(jobs.require(job.id).state).toBe('timed_out')
})

test('a task that is refused, and a worker that is gone, end the job with the reason', async () => {
  const refused = await start('assign')
  const message = store.messages.list(worker, { limit: 1 })[0]
  jobs.noteMessage({ ...(message as Message), state: 'refused', detail: 'not typed' })
  expect(jobs.require(refused.id).result?.failure).toBe('the task was not delivered: not typed')
  const gone = await start('assign')
  jobs.noteWorkerGone(worker, 'its worker was deleted')
  expect(jobs.require(gone.id).result?.failure).toContain('its worker was deleted')
  expect(inbox(supervisor)).toHaveLength(2)
})

test('a cancelled job ends its work: its own worker ends, another one is interrupted', async () => {
  jobs.cancel((await start('handoff')).id)
  const assigned = await start('assign')
  jobs.cancel(assigned.id)
  jobs.cancel(assigned.id)
  await clock.advance(10)
  expect([deleted, interrupted]).toEqual([[worker], [worker]])
})
