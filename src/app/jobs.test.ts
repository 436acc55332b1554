/** Jobs on a real store and a clock that is moved by hand; what they ask of the other use cases is written down. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ManualClock } from '../async/clock-manual.ts'
import { Scope } from '../async/scope.ts'
import type { JobId, TerminalId } from '../domain/ids.ts'
import type { CheckResult, Job, JobKind } from '../domain/job.ts'
import type { Message } from '../domain/message.ts'
import { Ladder } from '../inbox/ladder.ts'
import { silentLog } from '../lib/log.ts'
import { layoutOf } from '../protocol/home.ts'
import { newTerminal } from '../store/rows.case.ts'
import { openStore } from '../store/sqlite/open.ts'
import type { Store } from '../store/store.ts'
import type { StartJob } from './app.ts'
import { EventStream } from './event-stream.ts'
import type { JobDoors, JobsContext } from './job-doors.ts'
import { unconfirmedGraceMs } from './job-news.ts'
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
let context: JobsContext
let doors: JobDoors
let scope: Scope
let deleted: TerminalId[] = []
let interrupted: TerminalId[] = []
let startedCount = 0
let idle: TerminalId | undefined
/** What the checks say, round by round. */
let checks: CheckResult[][] = []

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'cao-jobs-'))
  store = openStore({ path: join(dir, 'cao.db') })
  clock = new ManualClock()
  deleted = []
  interrupted = []
  startedCount = 0
  idle = undefined
  checks = []
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
  context = {
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
  doors = {
    admit: () => Promise.resolve(),
    startWorker: ({ onInserted }) => {
      startedCount++
      onInserted(worker)
      return Promise.resolve({ id: worker, isReady: Promise.resolve() })
    },
    findIdleWorker: () => idle,
    runChecks: () => Promise.resolve(checks.shift() ?? []),
    readAnswer: () => Promise.resolve({ text: 'read again', source: 'transcript' }),
    queue: (message) => queueMessage(context, message),
    deleteTerminal: (id) => {
      deleted.push(id)
      return Promise.resolve()
    },
    interrupt: (id) => {
      interrupted.push(id)
      return Promise.resolve()
    },
  }
  jobs = new Jobs(context, doors)
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

const start = async (kind: JobKind, requestKey?: string, more: Partial<StartJob> = {}): Promise<Job> => {
  const job = await jobs.start(
    {
      kind,
      profileName: 'developer',
      task: 'count',
      callerId: supervisor,
      timeoutMs: 3_600_000,
      teardown: kind === 'handoff',
      ...(requestKey === undefined ? {} : { requestKey }),
      ...more,
    },
    waiting,
  )
  await clock.advance(1)
  return job
}
const answer = (id: JobId, text: string) =>
  jobs.ends.end(id, 'answer', { answer: text, failure: undefined, source: 'hook' })
const inbox = (id: TerminalId): readonly Pick<Message, 'kind' | 'body'>[] =>
  store.messages.list(id, { limit: 100 }).map(({ kind, body }) => ({ kind, body }))

test('an assigned task is sent once, and its answer comes to the asker by itself', async () => {
  const job = await start('assign')
  expect(inbox(worker).map(({ kind }) => kind)).toEqual(['assign'])
  answer(job.id, 'forty-two')
  answer(job.id, 'again')
  expect(inbox(supervisor)).toEqual([{ kind: 'callback', body: `Result from developer (${worker}):\nforty-two` }])
  expect(jobs.ends.require(job.id)).toMatchObject({ state: 'answered', isReported: true })
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
  const fetched = jobs.ends.wait(job.id, 60_000, waiting)
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
  expect(await jobs.ends.wait(job.id, 0, waiting)).toMatchObject({ result: { answer: 'late' } })
})

test('a deadline ends a job and says what its worker does; a worker that fails is left alive', async () => {
  const job = await start('handoff')
  await clock.advance(3_700_000)
  expect(jobs.ends.require(job.id)).toMatchObject({
    state: 'timed_out',
    result: { failure: expect.stringContaining('no answer in time') },
  })
  expect(deleted).toEqual([])
  expect(await jobs.ends.wait(job.id, 0, waiting)).toMatchObject({ isReported: true })
})

test('an answer that comes after the deadline corrects it: the asker is told, and the worker ends', async () => {
  const job = await start('handoff')
  await clock.advance(3_600_000)
  await jobs.ends.wait(job.id, 0, waiting)
  answer(job.id, 'late')
  answer(job.id, 'again')
  await clock.advance(10)
  expect(jobs.ends.require(job.id)).toMatchObject({ state: 'answered', result: { answer: 'late' }, isReported: true })
  expect(inbox(supervisor)).toEqual([{ kind: 'callback', body: `Late result from developer (${worker}):\nlate` }])
  expect(deleted).toEqual([worker])
})

test('a task that is refused, and a worker that is gone, end the job with the reason', async () => {
  const refused = await start('assign')
  const message = store.messages.list(worker, { limit: 1 })[0]
  jobs.news.noteMessage({ ...(message as Message), state: 'refused', detail: 'not typed' })
  expect(jobs.ends.require(refused.id).result?.failure).toBe('the task was not delivered: not typed')
  const gone = await start('assign')
  jobs.news.noteWorkerGone(worker, { ending: 'worker_deleted', why: 'its worker was deleted' })
  expect(jobs.ends.require(gone.id).result?.failure).toContain('its worker was deleted')
  expect(inbox(supervisor)).toHaveLength(2)
})

test('a cancelled job ends its work: its own worker ends, another one is interrupted', async () => {
  jobs.cancel((await start('handoff')).id)
  const assigned = await start('assign')
  jobs.cancel(assigned.id)
  jobs.cancel(assigned.id)
  await clock.advance(10)
  expect([deleted, interrupted]).toEqual([[worker], [worker]])
  // What was not typed yet is not done any more.
  expect(store.messages.list(worker, { limit: 10 }).map(({ state }) => state)).toEqual(['expired', 'expired'])
})

const task = (): Message => store.messages.list(worker, { limit: 10 }).at(-1) as Message
const deliver = (...steps: ('lease' | 'begin_typing' | 'type' | 'lapse' | 'confirm' | 'start_turn' | 'answer')[]) => {
  for (const step of steps) store.messages.step(task().id, step, { atMs: clock.nowMs() })
}
const endTurn = (text: string) =>
  jobs.news.noteTurnEnded({
    terminal: store.terminals.find(worker) as never,
    messages: [task()],
    outcome: 'answered',
    answer: { kind: 'exact', text, source: 'hook' },
    detail: undefined,
  })
const endingOf = ({ id }: Job) => jobs.ends.require(id).result?.ending
const check = (isPassed: boolean): CheckResult[] => [
  { command: 'npm test', isPassed, how: `exit code ${isPassed ? 0 : 1}`, output: isPassed ? '' : 'two\nfailed' },
]

test('a task that nothing proves ends its job after a while, and a late proof still brings the answer', async () => {
  const job = await start('assign')
  deliver('lease', 'begin_typing', 'type', 'lapse')
  jobs.news.noteMessage(task())
  await clock.advance(unconfirmedGraceMs - 10)
  expect(jobs.ends.require(job.id).state).toBe('running')
  await clock.advance(20)
  expect([jobs.ends.require(job.id).state, endingOf(job)]).toEqual(['failed', 'unconfirmed'])
  deliver('confirm', 'start_turn', 'answer')
  endTurn('it came after all')
  expect(jobs.ends.require(job.id)).toMatchObject({ state: 'answered', result: { ending: 'turn_ended' } })
  expect(inbox(supervisor).map(({ body }) => body)).toEqual([
    expect.stringContaining('nothing proves that its worker took the task'),
    `Late result from developer (${worker}):\nit came after all`,
  ])
})

test('a proof in time keeps the job open', async () => {
  const job = await start('assign')
  deliver('lease', 'begin_typing', 'type', 'lapse')
  jobs.news.noteMessage(task())
  deliver('confirm')
  await clock.advance(unconfirmedGraceMs + 10)
  expect(jobs.ends.require(job.id).state).toBe('running')
})

test('a worker that hangs ends its job, not those that still wait for it, and its late answer counts', async () => {
  const job = await start('handoff')
  deliver('lease', 'begin_typing', 'type', 'confirm', 'start_turn')
  const waits = await start('assign', undefined, { reuseTerminalId: worker })
  jobs.news.noteHung(worker)
  expect([endingOf(job), jobs.ends.require(waits.id).state]).toEqual(['hung', 'running'])
  answer(job.id, 'awake')
  expect(jobs.ends.require(job.id)).toMatchObject({ state: 'answered', result: { answer: 'awake' } })
})

test('a worker ends its job by its own report, once: the end of its turn changes nothing', async () => {
  const job = await start('assign')
  deliver('lease', 'begin_typing', 'type', 'confirm', 'start_turn', 'answer')
  expect(jobs.news.report(job.id, { outcome: 'done', text: 'all green' })).toMatchObject({ state: 'answered' })
  expect(jobs.news.report(job.id, { outcome: 'done', text: 'all green' })).toMatchObject({ state: 'answered' })
  expect(() => jobs.news.report(job.id, { outcome: 'failed', text: 'no' })).toThrow('has ended already')
  endTurn('I am done')
  expect(jobs.ends.require(job.id).result).toMatchObject({ answer: 'all green', ending: 'reported' })
  expect(inbox(supervisor)).toEqual([{ kind: 'callback', body: `Result from developer (${worker}):\nall green` }])
})

test('that nothing has to be changed is a result, and a failure has its reason', async () => {
  const fine = await start('assign')
  jobs.news.report(fine.id, { outcome: 'no_change_needed', text: 'it is right as it is' })
  const bad = await start('assign')
  jobs.news.report(bad.id, { outcome: 'failed', text: 'the disk is full' })
  expect([endingOf(fine), jobs.ends.require(fine.id).state]).toEqual(['no_change_needed', 'answered'])
  expect([endingOf(bad), jobs.ends.require(bad.id).state]).toEqual(['reported_failure', 'failed'])
  expect(inbox(supervisor).map(({ body }) => body)).toEqual([
    `developer (${worker}) says that no change is needed:\nit is right as it is`,
    `The task given to developer (${worker}) has failed: the disk is full`,
  ])
})

test('checks stand between the answer and the end: the worker is told once what failed, and may go on', async () => {
  checks = [check(false), check(true)]
  const job = await start('handoff', undefined, { checks: ['npm test'] })
  endTurn('done, I think')
  await clock.advance(10)
  expect(jobs.ends.require(job.id)).toMatchObject({ state: 'running', checksRun: 1, claim: undefined })
  expect(task().body).toContain(
    'the check `npm test` did not pass (exit code 1); its output ended with:\n> two\n> failed',
  )
  endTurn('done now')
  await clock.advance(10)
  expect(jobs.ends.require(job.id)).toMatchObject({
    state: 'answered',
    result: { answer: 'done now', ending: 'turn_ended', checks: check(true) },
  })
})

test('checks that fail again end the job with their output, and the answer is kept', async () => {
  checks = [check(false), check(false)]
  const job = await start('assign', undefined, { checks: ['npm test'] })
  for (const text of ['first', 'second']) {
    endTurn(text)
    await clock.advance(10)
  }
  expect(jobs.ends.require(job.id)).toMatchObject({
    state: 'failed',
    result: { answer: 'second', ending: 'checks_failed', checks: check(false) },
  })
  expect(inbox(supervisor)[0]?.body).toContain('did not pass')
})

test('a report waits for its checks, and a server that ends during them runs them again', async () => {
  const job = await start('assign', undefined, { checks: ['npm test'] })
  const slow = new Jobs(context, { ...doors, runChecks: () => Promise.resolve(undefined) })
  slow.news.report(job.id, { outcome: 'done', text: 'green' })
  await clock.advance(10)
  expect(jobs.ends.require(job.id)).toMatchObject({ state: 'running', claim: { answer: 'green' } })
  checks = [check(true)]
  jobs.resume()
  await clock.advance(10)
  expect(jobs.ends.require(job.id)).toMatchObject({
    state: 'answered',
    result: { answer: 'green', ending: 'reported' },
  })
})

test('an answer that was not written down any more is read again after the restart', async () => {
  const job = await start('assign')
  deliver('lease', 'begin_typing', 'type', 'confirm', 'start_turn', 'answer')
  jobs.resume()
  await clock.advance(10)
  expect(jobs.ends.require(job.id)).toMatchObject({ state: 'answered', result: { answer: 'read again' } })
})

test('a job whose worker was never started is started after the restart, and its task is sent once', async () => {
  const never = new Promise<never>(() => undefined)
  const cut = new Jobs(context, { ...doors, startWorker: () => never })
  const key = {
    kind: 'assign',
    profileName: 'developer',
    task: 'count',
    callerId: supervisor,
    requestKey: 'k',
  } as const
  void cut.start({ ...key, timeoutMs: 60_000, teardown: false }, waiting)
  await vi.waitFor(() => expect(store.jobs.listOpen()).toHaveLength(1))
  jobs.resume()
  await clock.advance(10)
  jobs.resume()
  await clock.advance(10)
  const job = await jobs.start({ ...key, timeoutMs: 60_000, teardown: false }, waiting)
  expect([job.workerId, job.state, startedCount, inbox(worker).length]).toEqual([worker, 'running', 1, 1])
})

test('an end that the last server could not tell is told by the next one, once', async () => {
  const job = await start('assign')
  store.jobs.step(job.id, 'fail', { atMs: 1, result: { answer: undefined, failure: 'x', source: undefined } })
  jobs.resume()
  jobs.resume()
  expect(inbox(supervisor)).toEqual([
    { kind: 'callback', body: `The task given to developer (${worker}) has failed: x` },
  ])
})

test('a key is of one task: with other work it is refused', async () => {
  await start('handoff', 'k')
  await expect(start('assign', 'k')).rejects.toMatchObject({ code: 'CONFLICT' })
  await expect(start('handoff', 'k', { task: 'other' })).rejects.toMatchObject({ code: 'CONFLICT' })
})

test('a retry is a new job of the same work, once for each job; what may still run of the old one is stopped', async () => {
  const job = await start('handoff', 'k', { model: 'm' })
  await expect(jobs.retry(job.id, {}, waiting)).rejects.toMatchObject({ code: 'CONFLICT' })
  await clock.advance(3_700_000)
  const other = 'cccccccc' as TerminalId
  insertLive(other)
  const fresh = new Jobs(context, {
    ...doors,
    startWorker: ({ onInserted }) => {
      onInserted(other)
      return Promise.resolve({ id: other, isReady: Promise.resolve() })
    },
  })
  const again = await fresh.retry(job.id, {}, waiting)
  expect((await fresh.retry(job.id, {}, waiting)).id).toBe(again.id)
  await clock.advance(10)
  expect(again).toMatchObject({ retryOf: job.id, task: 'count', workerId: other, request: { model: 'm' } })
  expect(deleted).toEqual([worker])
  answer(job.id, 'of the old one')
  expect(jobs.ends.require(job.id).state).toBe('timed_out')
  answer(again.id, 'of the new one')
  await expect(fresh.retry(again.id, {}, waiting)).rejects.toMatchObject({ code: 'CONFLICT' })
})

test('an idle worker is taken where that is asked for, and otherwise a new one is started', async () => {
  idle = worker
  const job = await start('assign', undefined, { isReuseIdle: true })
  expect([job.workerId, startedCount]).toEqual([worker, 0])
  await start('assign')
  expect(startedCount).toBe(1)
})

test('whoever only starts a handoff is told of its end soon', async () => {
  const job = await start('handoff', undefined, { isUnattended: true })
  answer(job.id, 'there')
  await clock.advance(2_100)
  expect(inbox(supervisor)).toEqual([{ kind: 'callback', body: `Result from developer (${worker}):\nthere` }])
})

test('a job that is called off while its worker is launched ends that worker when it stands, and sends it nothing', async () => {
  let finish: () => void = () => undefined
  const slow = new Jobs(context, {
    ...doors,
    startWorker: async ({ onInserted }) => {
      onInserted(worker)
      await new Promise<void>((resolve) => (finish = resolve))
      return { id: worker, isReady: Promise.resolve() }
    },
  })
  const request = { kind: 'handoff', profileName: 'developer', task: 'x', timeoutMs: 60_000, teardown: true } as const
  const started = slow.start(request, waiting)
  await vi.waitFor(() => expect(store.jobs.listForWorker(worker)).toHaveLength(1))
  const { id } = store.jobs.listForWorker(worker)[0] as Job
  slow.cancel(id)
  await clock.advance(10)
  expect(deleted).toEqual([])
  finish()
  expect(await started).toMatchObject({ state: 'cancelled' })
  await clock.advance(10)
  expect([deleted, inbox(worker)]).toEqual([[worker], []])
})
