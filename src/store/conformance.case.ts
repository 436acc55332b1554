/**
 * What any Store must do, method by method, unhappy ends included. An implementation calls `describeStore` from its own
 * test file with a way to open one file, and gets the same suite as every other.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DeliveryStep } from '../domain/delivery.ts'
import { AppError, type ErrorCode } from '../domain/errors.ts'
import type { DomainEventBody } from '../domain/events.ts'
import type { InstanceId, JobId, MessageId, MessageToken, QuestionId, SessionName, TerminalId } from '../domain/ids.ts'
import type { JobStep } from '../domain/job.ts'
import { inboxLengthMax } from '../domain/message.ts'
import type { Terminal } from '../domain/terminal.ts'
import type { Worktree } from '../domain/worktree.ts'
import { newTerminal as plainTerminal } from './rows.case.ts'
import type { JobFilter, NewJob, NewMessage, NewTerminal, Store } from './store.ts'

export type StoreCase = {
  /** A fresh place for one store, and how to remove it. */
  readonly makePlace: () => { readonly path: string; readonly remove: () => void }
  /** Opens the store at `path`; `isSmall`: with little room, so that it fills up soon. */
  readonly open: (path: string, options?: { readonly isSmall?: boolean }) => Store
  /**
   * Command line of a program that opens the store at the path in its last argument and, for N = 1, 2, ... until it is
   * killed, in one transaction appends an event and sets the fact `written` to N, then prints N as a line.
   */
  readonly writer: readonly [program: string, ...args: string[]]
}

const terminalId = (digit: string): TerminalId => digit.repeat(8) as TerminalId
const a = terminalId('a')
const b = terminalId('b')
const sessionName = 'cao-team' as SessionName
const pane = { instanceId: 'f00dfeedf00dfeed' as InstanceId, paneId: '%7' }

const newTerminal = (id: TerminalId, changes: Partial<NewTerminal> = {}): NewTerminal =>
  plainTerminal(id, { sessionName, ...changes })

let tokens = 0
function newMessage(receiverId: TerminalId, changes: Partial<NewMessage> = {}): NewMessage {
  return {
    token: (tokens++).toString(16).padStart(12, '0') as MessageToken,
    kind: 'send_message',
    senderId: 'user',
    receiverId,
    jobId: undefined,
    body: 'hello',
    createdAtMs: 200,
    ...changes,
  }
}

const jobId = (digit: string): JobId => `job-${digit.repeat(16)}` as JobId
function newJob(id: JobId, changes: Partial<NewJob> = {}): NewJob {
  return {
    id,
    kind: 'handoff',
    callerId: undefined,
    profileName: 'developer',
    task: 'count to ten',
    requestKey: undefined,
    deadlineAtMs: 9_000,
    teardown: true,
    request: {},
    retryOf: undefined,
    createdAtMs: 300,
    ...changes,
  }
}

const questionId = (digit: string): QuestionId => `q-${digit.repeat(8)}` as QuestionId
const newQuestion = (id: QuestionId, terminal: TerminalId) => ({
  id,
  terminalId: terminal,
  reason: 'permission' as const,
  text: 'Run rm?',
  options: ['yes', 'no'],
  vendorId: undefined,
  openedAtMs: 400,
})

const created: DomainEventBody = { type: 'session.created', sessionName }
const jobCreated = {
  type: 'job.created',
  jobId: 'job-0123456789abcdef' as JobId,
  kind: 'assign',
  profileName: 'developer',
} as const satisfies Partial<DomainEventBody>
const answered = { answer: 'done', failure: undefined, source: 'hook' }

function expectFault(call: () => unknown, code: ErrorCode): AppError {
  let fault: unknown
  try {
    call()
  } catch (error) {
    fault = error
  }
  expect(fault).toBeInstanceOf(AppError)
  expect((fault as AppError).code).toBe(code)
  return fault as AppError
}

/** Walks a message through `steps`; each must be legal. */
function walk(store: Store, id: MessageId, steps: readonly DeliveryStep[], atMs = 500): void {
  for (const step of steps) expect(store.messages.step(id, step, { atMs })).toMatchObject({ kind: 'moved' })
}

function endTerminal(store: Store, id: TerminalId, atMs: number): void {
  store.terminals.step(id, 'delete', { atMs })
  store.terminals.step(id, 'finish', { atMs })
}

export function describeStore(name: string, storeCase: StoreCase): void {
  describe(`store: ${name}`, () => {
    const stack: { dispose: () => void }[] = []
    let path = ''
    let store: Store

    const open = (options?: { isSmall?: boolean }): Store => {
      const opened = storeCase.open(path, options)
      stack.push({ dispose: () => opened[Symbol.dispose]() })
      return opened
    }

    beforeEach(() => {
      const place = storeCase.makePlace()
      path = place.path
      stack.push({ dispose: place.remove })
      store = open()
    })
    afterEach(() => {
      for (const each of stack.splice(0).toReversed()) each.dispose()
    })

    describe('sessions', () => {
      test('a name is taken once, found, listed oldest first, and free again after its deletion', () => {
        const team = { name: sessionName, createdAtMs: 2, workingDirectory: '/srv' }
        const other = { name: 'cao-other' as SessionName, createdAtMs: 1, workingDirectory: '/' }
        expect(store.sessions.insert(team)).toBe('inserted')
        expect(store.sessions.insert({ ...team, createdAtMs: 9 })).toBe('taken')
        expect(store.sessions.insert(other)).toBe('inserted')
        expect(store.sessions.find(sessionName)).toEqual(team)
        expect(store.sessions.list()).toEqual([other, team])
        expect(store.sessions.delete(sessionName)).toBe(true)
        expect(store.sessions.delete(sessionName)).toBe(false)
        expect(store.sessions.find(sessionName)).toBeUndefined()
        expect(store.sessions.insert(team)).toBe('inserted')
      })
    })

    describe('terminals', () => {
      test('a new one is planned and comes back as it was given', () => {
        const given = newTerminal(a, {
          callerId: b,
          allowedTools: ['fs_read', '@builtin'],
          teamTools: ['fs_*'],
          argv: ['agent', '--text', 'with "quotes", \u00e9 and\nlines'],
          binding: { port: 4096, session: 'x', isOn: true, none: null },
          permissionMode: '',
          limitsNotEnforced: [],
          model: undefined,
          envNames: [],
          group: ['backend', 'api'],
          metadata: { nested: { list: [1, 'two'] } },
        })
        const expected: Terminal = {
          ...given,
          life: 'planned',
          pane: undefined,
          exit: undefined,
          lostReason: undefined,
          lastActiveAtMs: 100,
        }
        expect(store.terminals.insert(given)).toEqual(expected)
        expect(store.terminals.find(a)).toEqual(expected)
      })

      test('an id that exists is a conflict, and the first row stays', () => {
        store.terminals.insert(newTerminal(a))
        expectFault(() => store.terminals.insert(newTerminal(a, { name: 'second' })), 'CONFLICT')
        expect(store.terminals.find(a)?.name).toBe('developer')
      })

      test('they are listed oldest first, of one session when named, without the deleted', () => {
        const other = 'cao-other' as SessionName
        store.terminals.insert(newTerminal(a, { createdAtMs: 3 }))
        store.terminals.insert(newTerminal(b, { createdAtMs: 1, sessionName: other }))
        store.terminals.insert(newTerminal(terminalId('c'), { createdAtMs: 2 }))
        store.terminals.insert(newTerminal(terminalId('d'), { createdAtMs: 0 }))
        endTerminal(store, terminalId('d'), 5)
        expect(store.terminals.list().map((each) => each.id)).toEqual([b, terminalId('c'), a])
        expect(store.terminals.list(other).map((each) => each.id)).toEqual([b])
        store.terminals.step(b, 'delete')
        expect(store.terminals.list(other).map((each) => each.life)).toEqual(['deleting'])
      })

      test('a life goes from planned to deleted with its pane, exit and reason', () => {
        store.terminals.insert(newTerminal(a))
        expect(store.terminals.step(a, 'open', { pane, atMs: 150 })).toMatchObject({
          kind: 'moved',
          from: 'planned',
          row: { life: 'live', pane, lastActiveAtMs: 150 },
        })
        const exit = { code: undefined, signal: 'SIGKILL', atMs: 160 }
        const exited = store.terminals.step(a, 'exit', { exit })
        expect(exited.kind === 'moved' && exited.row).toEqual(store.terminals.find(a))
        expect(store.terminals.find(a)).toMatchObject({ life: 'exited', pane, exit, lastActiveAtMs: 160 })
        store.terminals.step(a, 'relaunch')
        expect(store.terminals.find(a)).toMatchObject({ life: 'planned', pane: undefined, exit: undefined })
        store.terminals.step(a, 'open', { pane: { ...pane, paneId: '%8' } })
        store.terminals.step(a, 'lose', { reason: 'tmux ended' })
        expect(store.terminals.find(a)).toMatchObject({ life: 'lost', lostReason: 'tmux ended' })
        endTerminal(store, a, 170)
        expect(store.terminals.find(a)?.life).toBe('deleted')
      })

      test('an illegal step and a missing terminal are outcomes that change nothing', () => {
        const before = store.terminals.insert(newTerminal(a))
        const exit = { code: 0, signal: undefined, atMs: 1 }
        expect(store.terminals.step(a, 'exit', { exit })).toEqual({ kind: 'illegal', from: 'planned' })
        expect(store.terminals.find(a)).toEqual(before)
        expect(store.terminals.step(b, 'open', { pane })).toEqual({ kind: 'missing' })
        expect(store.terminals.find(b)).toBeUndefined()
      })

      test('binding, launch, group and metadata are replaced, and cleared by undefined', () => {
        store.terminals.insert(newTerminal(a, { group: ['x'], metadata: { y: 1 } }))
        store.terminals.setBinding(a, { port: 1 })
        expect(store.terminals.find(a)).toMatchObject({ binding: { port: 1 }, argv: ['/usr/bin/agent', '--quiet'] })
        store.terminals.setLaunch(a, {
          argv: ['agent', '--resume'],
          binding: { port: 2 },
          permissionMode: 'asks',
          limitsNotEnforced: ['fs_read'],
        })
        store.terminals.setGroup(a, undefined)
        store.terminals.setMetadata(a, undefined)
        expect(store.terminals.find(a)).toMatchObject({
          argv: ['agent', '--resume'],
          binding: { port: 2 },
          permissionMode: 'asks',
          limitsNotEnforced: ['fs_read'],
          model: undefined,
          envNames: [],
          group: undefined,
          metadata: undefined,
        })
      })

      test('setting what belongs to no terminal is a fault, touching is not', () => {
        expectFault(() => store.terminals.setBinding(a, {}), 'NOT_FOUND')
        expectFault(
          () => store.terminals.setLaunch(a, { argv: [], binding: {}, permissionMode: '', limitsNotEnforced: [] }),
          'NOT_FOUND',
        )
        expectFault(() => store.terminals.setGroup(a, []), 'NOT_FOUND')
        expectFault(() => store.terminals.setMetadata(a, {}), 'NOT_FOUND')
        expectFault(() => store.terminals.saveCursor(a, { outputOffset: 1, hookOffset: 1, turnsEnded: 1 }), 'NOT_FOUND')
        store.terminals.touch(a, 5)
      })

      test('the time of last activity never goes back', () => {
        store.terminals.insert(newTerminal(a, { createdAtMs: 100 }))
        store.terminals.touch(a, 300)
        store.terminals.touch(a, 200)
        expect(store.terminals.find(a)?.lastActiveAtMs).toBe(300)
      })

      test('a cursor starts at zero and is kept, also beyond 32 bits', () => {
        expect(store.terminals.loadCursor(b)).toEqual({ outputOffset: 0, hookOffset: 0, turnsEnded: 0 })
        store.terminals.insert(newTerminal(a))
        expect(store.terminals.loadCursor(a)).toEqual({ outputOffset: 0, hookOffset: 0, turnsEnded: 0 })
        const cursor = { outputOffset: 2 ** 40 + 1, hookOffset: 7, turnsEnded: 3 }
        store.terminals.saveCursor(a, cursor)
        expect(store.terminals.loadCursor(a)).toEqual(cursor)
      })
    })

    describe('messages', () => {
      beforeEach(() => {
        store.terminals.insert(newTerminal(a))
        store.terminals.insert(newTerminal(b))
      })

      test('a new one is queued, numbered upwards, and found by id and by token', () => {
        const given = newMessage(a)
        const first = store.messages.insert(given)
        const second = store.messages.insert(newMessage(a))
        const rest = {
          id: first.id,
          state: 'queued',
          detail: undefined,
          attempts: 0,
          updatedAtMs: 200,
          deliveryClass: 'idle',
          rungs: [{ state: 'queued', atMs: 200 }],
        }
        expect(first).toEqual({ ...given, ...rest })
        expect(second.id).toBe(first.id + 1)
        expect(store.messages.find(first.id)).toEqual(first)
        expect(store.messages.findByToken(second.token)).toEqual(second)
        expect(store.messages.find(99 as MessageId)).toBeUndefined()
        expect(store.messages.findByToken('ffffffffffff' as MessageToken)).toBeUndefined()
      })

      test('a body is kept to the byte: a megabyte, NUL, emoji, quotes, line ends', () => {
        const body = `'"\\;\0\t\r\n$HOME #(x) \u{1f600}\u200d\u6f22 ${'x'.repeat(1024 * 1024)}`
        const { id } = store.messages.insert(newMessage(a, { body }))
        expect(store.messages.find(id)?.body === body).toBe(true)
      })

      test('the same token twice is a conflict, and a receiver that is not there is not found', () => {
        const given = newMessage(a)
        store.messages.insert(given)
        expectFault(() => store.messages.insert(given), 'CONFLICT')
        expectFault(() => store.messages.insert(newMessage(terminalId('e'))), 'NOT_FOUND')
        expect(store.messages.list(a, { limit: 10 })).toHaveLength(1)
      })

      test('a full inbox refuses the next message for that receiver alone, until one is delivered', () => {
        const ids = store.transaction(() =>
          Array.from({ length: inboxLengthMax }, () => store.messages.insert(newMessage(a)).id),
        )
        expectFault(() => store.messages.insert(newMessage(a)), 'QUEUE_FULL')
        store.messages.insert(newMessage(b))
        const [first] = ids
        walk(store, first as MessageId, ['lease', 'begin_typing', 'type'])
        expectFault(() => store.messages.insert(newMessage(a)), 'QUEUE_FULL')
        walk(store, first as MessageId, ['confirm'])
        expect(store.messages.insert(newMessage(a)).state).toBe('queued')
      })

      test('lists are oldest first, limited, and of the asked states', () => {
        const [one, two, three] = [newMessage(a), newMessage(b), newMessage(a)].map(
          (each) => store.messages.insert(each).id,
        )
        walk(store, one as MessageId, ['lease'])
        expect(store.messages.list(a, { limit: 10 }).map((each) => each.id)).toEqual([one, three])
        expect(store.messages.list(a, { limit: 1 }).map((each) => each.id)).toEqual([one])
        expect(store.messages.list(a, { limit: 10, states: ['queued'] }).map((each) => each.id)).toEqual([three])
        expect(store.messages.list(a, { limit: 10, states: [] })).toEqual([])
        expect(store.messages.listByState(['leased', 'queued']).map((each) => each.id)).toEqual([one, two, three])
        expect(store.messages.listByState(['typed'])).toEqual([])
      })

      test('the next message is the oldest that is queued for the receiver', () => {
        expect(store.messages.nextQueued(a)).toBeUndefined()
        store.messages.insert(newMessage(b))
        const first = store.messages.insert(newMessage(a))
        const second = store.messages.insert(newMessage(a))
        expect(store.messages.nextQueued(a)).toEqual(first)
        walk(store, first.id, ['lease'])
        expect(store.messages.nextQueued(a)).toEqual(second)
        walk(store, first.id, ['release'])
        expect(store.messages.nextQueued(a)?.id).toBe(first.id)
      })

      test('a step moves state, detail, attempts and time together', () => {
        const { id } = store.messages.insert(newMessage(a))
        expect(store.messages.step(id, 'lease', { atMs: 210, countAttempt: true })).toMatchObject({
          kind: 'moved',
          from: 'queued',
          row: { state: 'leased', attempts: 1, updatedAtMs: 210, detail: undefined },
        })
        store.messages.step(id, 'release', { atMs: 220, detail: 'a dialog is open' })
        expect(store.messages.find(id)).toMatchObject({ state: 'queued', detail: 'a dialog is open', attempts: 1 })
        store.messages.step(id, 'lease', { atMs: 230, countAttempt: true })
        expect(store.messages.find(id)).toMatchObject({ state: 'leased', detail: undefined, attempts: 2 })
      })

      test('the proof of arrival stays with what comes after it', () => {
        const { id } = store.messages.insert(newMessage(a))
        walk(store, id, ['lease', 'begin_typing', 'type'])
        store.messages.step(id, 'confirm', { atMs: 1, detail: 'transcript' })
        walk(store, id, ['start_turn', 'answer'])
        expect(store.messages.find(id)).toMatchObject({ state: 'answered', detail: 'transcript' })
      })

      test('an illegal step and a missing message are outcomes that change nothing', () => {
        const before = store.messages.insert(newMessage(a))
        const change = { atMs: 999, detail: 'no', countAttempt: true }
        expect(store.messages.step(before.id, 'confirm', change)).toEqual({ kind: 'illegal', from: 'queued' })
        expect(store.messages.find(before.id)).toEqual(before)
        expect(store.messages.step(99 as MessageId, 'lease', change)).toEqual({ kind: 'missing' })
      })

      test('what was typed never goes back to the queue', () => {
        const { id } = store.messages.insert(newMessage(a))
        walk(store, id, ['lease', 'begin_typing', 'type'])
        for (const step of ['lease', 'release', 'prove_absent', 'begin_typing'] as const) {
          expect(store.messages.step(id, step, { atMs: 1 })).toEqual({ kind: 'illegal', from: 'typed' })
        }
      })

      test('of two connections that lease the same message, one gets it, every time', () => {
        const other = open()
        for (let round = 0; round < 20; round++) {
          const { id } = store.messages.insert(newMessage(a))
          expect([store.messages.nextQueued(a)?.id, other.messages.nextQueued(a)?.id]).toEqual([id, id])
          const racers = round % 2 === 0 ? [store, other] : [other, store]
          const outcomes = racers.map((each) => each.messages.step(id, 'lease', { atMs: 1, countAttempt: true }).kind)
          expect(outcomes).toEqual(['moved', 'illegal'])
          expect(store.messages.find(id)).toMatchObject({ state: 'leased', attempts: 1 })
        }
      })

      test('counts by state, and tells whether one terminal itself wrote to another since a time', () => {
        const other = 'bbbbbbb2' as TerminalId
        store.messages.insert(newMessage(a, { senderId: other, kind: 'send_message', createdAtMs: 500 }))
        store.messages.insert(newMessage(a, { senderId: 'cao', kind: 'callback', createdAtMs: 600 }))
        expect(store.messages.count(a, ['queued'])).toBe(2)
        expect(store.messages.count(a, ['leased', 'typed'])).toBe(0)
        expect(store.messages.hasSent(other, a, 500)).toBe(true)
        expect(store.messages.hasSent(other, a, 501)).toBe(false)
        expect(store.messages.hasSent('cccccccc' as TerminalId, a, 0)).toBe(false)
      })
    })

    describe('jobs', () => {
      beforeEach(() => {
        store.terminals.insert(newTerminal(a))
        store.terminals.insert(newTerminal(b))
      })

      test('a new one is created, open, and comes back as it was given', () => {
        const given = newJob(jobId('1'), { callerId: a, requestKey: 'k', teardown: false, kind: 'assign' })
        const job = {
          ...given,
          state: 'created',
          result: undefined,
          isReported: false,
          endedAtMs: undefined,
          workerId: undefined,
          messageId: undefined,
          claim: undefined,
          checksRun: 0,
        }
        expect(store.jobs.insert(given)).toEqual({ job, isNew: true })
        expect(store.jobs.find(given.id)).toEqual(job)
        expect(store.jobs.listOpen()).toEqual([job])
        expect(store.jobs.find(jobId('9'))).toBeUndefined()
      })

      test('the same caller and key give the first job; another caller, or no key, give another', () => {
        const key = { requestKey: 'same' }
        const first = store.jobs.insert(newJob(jobId('1'), key)).job
        expect(store.jobs.insert(newJob(jobId('2'), { ...key, task: 'other' }))).toEqual({ job: first, isNew: false })
        expect(store.jobs.insert(newJob(jobId('3'), { ...key, callerId: a })).isNew).toBe(true)
        expect(store.jobs.insert(newJob(jobId('4'), { ...key, callerId: b })).isNew).toBe(true)
        expect(store.jobs.insert(newJob(jobId('5'))).isNew).toBe(true)
        expect(store.jobs.insert(newJob(jobId('6'))).isNew).toBe(true)
        expect(store.jobs.find(jobId('2'))).toBeUndefined()
        store.jobs.step(first.id, 'cancel', { atMs: 1 })
        expect(store.jobs.insert(newJob(jobId('7'), key))).toMatchObject({ job: { id: first.id }, isNew: false })
      })

      test('an id that exists is a conflict', () => {
        store.jobs.insert(newJob(jobId('1')))
        expectFault(() => store.jobs.insert(newJob(jobId('1'))), 'CONFLICT')
      })

      test('worker and message are set, found by, and must exist', () => {
        const { id } = store.jobs.insert(newJob(jobId('1'))).job
        store.jobs.setWorker(id, b)
        const message = store.messages.insert(newMessage(b, { jobId: id }))
        store.jobs.setMessage(id, message.id)
        expect(store.jobs.find(id)).toMatchObject({ workerId: b, messageId: message.id })
        expect(store.jobs.listForWorker(b).map((job) => job.id)).toEqual([id])
        expect(store.jobs.listForWorker(a)).toEqual([])
        expect(store.jobs.findByMessage(message.id)?.id).toBe(id)
        expect(store.jobs.findByMessage(99 as MessageId)).toBeUndefined()
        expectFault(() => store.jobs.setWorker(id, terminalId('e')), 'NOT_FOUND')
        expectFault(() => store.jobs.setWorker(jobId('9'), b), 'NOT_FOUND')
        expectFault(() => store.jobs.setMessage(jobId('9'), message.id), 'NOT_FOUND')
        expectFault(() => store.messages.insert(newMessage(b, { jobId: jobId('8') })), 'NOT_FOUND')
      })

      test('it ends once: the first end wins, with its result and time', () => {
        const { id } = store.jobs.insert(newJob(jobId('1'))).job
        expect(store.jobs.step(id, 'start', { atMs: 310 })).toMatchObject({
          kind: 'moved',
          from: 'created',
          row: { state: 'running', endedAtMs: undefined, result: undefined },
        })
        expect(store.jobs.step(id, 'answer', { atMs: 320, result: answered })).toMatchObject({
          kind: 'moved',
          from: 'running',
          row: { state: 'answered', endedAtMs: 320, result: answered },
        })
        for (const step of ['time_out', 'fail', 'cancel', 'answer', 'start'] satisfies JobStep[]) {
          expect(store.jobs.step(id, step, { atMs: 330 })).toEqual({ kind: 'illegal', from: 'answered' })
        }
        expect(store.jobs.find(id)).toMatchObject({ state: 'answered', endedAtMs: 320, result: answered })
        expect(store.jobs.listOpen()).toEqual([])
        expect(store.jobs.step(jobId('9'), 'start', { atMs: 1 })).toEqual({ kind: 'missing' })
      })

      test('its end is reported once, by whoever claims it first, and not before it', () => {
        const other = open()
        const { id } = store.jobs.insert(newJob(jobId('1'))).job
        expect(store.jobs.claimReport(id)).toBe(false)
        store.jobs.step(id, 'fail', { atMs: 1 })
        expect([other.jobs.claimReport(id), store.jobs.claimReport(id)]).toEqual([true, false])
        expect(store.jobs.find(id)?.isReported).toBe(true)
        for (const [at, kind] of (['assign', 'step', 'handoff', 'handoff'] as const).entries()) {
          const next = newJob(jobId(String(at + 2)), { kind, ...(at === 3 ? {} : { callerId: a }) })
          store.jobs.insert(next)
          store.jobs.step(next.id, 'fail', { atMs: 2 })
        }
        store.jobs.insert(newJob(jobId('6'), { callerId: a }))
        expect(store.jobs.listUnreported().map((job) => job.id)).toEqual([jobId('2'), jobId('4')])
        expect(store.jobs.claimReport(jobId('9'))).toBe(false)
      })

      test('how it was asked for, what its worker claims and what was tried before it are kept', () => {
        const request = {
          timeoutMs: 5,
          checks: ['npm test', ['true']],
          model: 'm',
          sessionName: 'cao-x' as SessionName,
        }
        const { id } = store.jobs.insert(newJob(jobId('1'), { request })).job
        expect(store.jobs.find(id)?.request).toEqual(request)
        store.jobs.setClaim(id, answered, 1)
        expect(store.jobs.find(id)).toMatchObject({ claim: answered, checksRun: 1 })
        store.jobs.setClaim(id, undefined, 2)
        expect(store.jobs.find(id)).toMatchObject({ claim: undefined, checksRun: 2 })
        expect(store.jobs.findRetry(id)).toBeUndefined()
        store.jobs.insert(newJob(jobId('2'), { retryOf: id }))
        expect(store.jobs.findRetry(id)).toMatchObject({ id: jobId('2'), retryOf: id })
        expectFault(() => store.jobs.setClaim(jobId('9'), undefined, 0), 'NOT_FOUND')
      })

      test('an end that is corrected is news again', () => {
        const { id } = store.jobs.insert(newJob(jobId('1'))).job
        store.jobs.step(id, 'time_out', { atMs: 1 })
        expect(store.jobs.claimReport(id)).toBe(true)
        expect(store.jobs.step(id, 'correct', { atMs: 2, result: answered })).toMatchObject({
          kind: 'moved',
          from: 'timed_out',
          row: { state: 'answered', result: answered, isReported: false },
        })
        expect(store.jobs.claimReport(id)).toBe(true)
      })

      test('they are listed by state, asker, worker and part, the newest first', () => {
        store.jobs.insert(newJob(jobId('1'), { callerId: a, createdAtMs: 1, requestKey: 'k' }))
        store.jobs.insert(newJob(jobId('2'), { callerId: b, createdAtMs: 2 }))
        store.jobs.insert(newJob(jobId('3'), { createdAtMs: 3 }))
        store.jobs.setWorker(jobId('2'), a)
        store.jobs.step(jobId('3'), 'cancel', { atMs: 4 })
        const listed = (filter: Omit<JobFilter, 'limit'>, limit = 10) =>
          store.jobs.list({ ...filter, limit }).map(({ id }) => id)
        expect(listed({})).toEqual([jobId('3'), jobId('2'), jobId('1')])
        expect(listed({}, 1)).toEqual([jobId('3')])
        expect(listed({ states: ['created', 'running'] })).toEqual([jobId('2'), jobId('1')])
        expect(listed({ callerId: a })).toEqual([jobId('1')])
        expect(listed({ workerId: a })).toEqual([jobId('2')])
        expect(listed({ partOf: a, states: ['created'] })).toEqual([jobId('2'), jobId('1')])
        expect(store.jobs.findByRequest(a, 'k')?.id).toBe(jobId('1'))
        expect(store.jobs.findByRequest(undefined, 'k')).toBeUndefined()
      })

      test('open jobs are listed oldest first', () => {
        store.jobs.insert(newJob(jobId('1'), { createdAtMs: 2 }))
        store.jobs.insert(newJob(jobId('2'), { createdAtMs: 1 }))
        store.jobs.insert(newJob(jobId('3'), { createdAtMs: 0 }))
        store.jobs.step(jobId('2'), 'start', { atMs: 1 })
        store.jobs.step(jobId('3'), 'cancel', { atMs: 1 })
        expect(store.jobs.listOpen().map((job) => job.id)).toEqual([jobId('2'), jobId('1')])
      })
    })

    describe('questions', () => {
      beforeEach(() => {
        store.terminals.insert(newTerminal(a))
        store.terminals.insert(newTerminal(b))
      })

      test('it is open until it is closed, once, with its answer', () => {
        const given = newQuestion(questionId('1'), a)
        const nothing = { closedAtMs: undefined, answer: undefined, answeredBy: undefined, detail: undefined }
        const question = { ...given, ...nothing, state: 'open' }
        expect(store.questions.insert(given)).toEqual(question)
        expect(store.questions.find(given.id)).toEqual(question)
        const closing = { state: 'answered', answer: 'yes', by: 'person' } as const
        expect(store.questions.close(given.id, 410, closing)).toBe(true)
        expect(store.questions.close(given.id, 420, { state: 'expired' })).toBe(false)
        expect(store.questions.find(given.id)).toEqual({
          ...question,
          state: 'answered',
          closedAtMs: 410,
          answer: 'yes',
          answeredBy: 'person',
        })
        expect(store.questions.close(questionId('9'), 1, closing)).toBe(false)
        expect(store.questions.find(questionId('9'))).toBeUndefined()
      })

      test('open ones are listed oldest first, of one terminal when named', () => {
        store.questions.insert({ ...newQuestion(questionId('1'), a), openedAtMs: 3 })
        store.questions.insert({ ...newQuestion(questionId('2'), b), openedAtMs: 1 })
        store.questions.insert({ ...newQuestion(questionId('3'), a), openedAtMs: 2 })
        store.questions.close(questionId('1'), 4, { state: 'overtaken' })
        expect(store.questions.listOpen().map((each) => each.id)).toEqual([questionId('2'), questionId('3')])
        expect(store.questions.listOpen(a).map((each) => each.id)).toEqual([questionId('3')])
      })

      test('those of a state are listed newest first, and it is known who was shown which', () => {
        for (const [id, openedAtMs] of [
          ['1', 1],
          ['2', 2],
          ['3', 3],
        ] as const) {
          store.questions.insert({ ...newQuestion(questionId(id), id === '3' ? b : a), openedAtMs })
        }
        store.questions.close(questionId('1'), 4, { state: 'overtaken', detail: 'it went on' })
        store.questions.close(questionId('3'), 4, { state: 'expired' })
        const closed = store.questions.list({ limit: 9, states: ['overtaken', 'expired'] })
        expect(closed.map(({ id, detail }) => [id, detail])).toEqual([
          [questionId('3'), undefined],
          [questionId('1'), 'it went on'],
        ])
        expect(store.questions.list({ limit: 1, terminalId: a }).map(({ id }) => id)).toEqual([questionId('2')])
        store.questions.noteShown(questionId('2'), b)
        store.questions.noteShown(questionId('2'), b)
        expect([store.questions.isShownTo(questionId('2'), b), store.questions.isShownTo(questionId('2'), a)]).toEqual([
          true,
          false,
        ])
      })

      test('the same id twice is a conflict, and a terminal that is not there is not found', () => {
        store.questions.insert(newQuestion(questionId('1'), a))
        expectFault(() => store.questions.insert(newQuestion(questionId('1'), b)), 'CONFLICT')
        expectFault(() => store.questions.insert(newQuestion(questionId('2'), terminalId('e'))), 'NOT_FOUND')
      })
    })

    describe('worktrees', () => {
      const worktree: Worktree = {
        terminalId: a,
        profileName: 'developer',
        callerId: b,
        gitDir: '/srv/project/.git',
        sourceDir: '/srv/project',
        path: '/srv/worktrees/a',
        branch: 'cao-developer-a',
        baseCommit: '0123',
        baseBranch: 'main',
        state: 'planned',
        notes: ['one'],
        detail: undefined,
        createdAtMs: 5,
      }

      test('come back as they were given, whether or not their terminal is there', () => {
        const other = { ...worktree, terminalId: b, callerId: undefined, baseBranch: undefined, detail: 'why' }
        store.worktrees.insert(worktree)
        store.worktrees.insert(other)
        expect(store.worktrees.list()).toEqual([worktree, other])
        expect([store.worktrees.find(a), store.worktrees.find(terminalId('c'))]).toEqual([worktree, undefined])
      })

      test('change their state, with the reason of that state and the notes that are given', () => {
        store.worktrees.insert(worktree)
        store.worktrees.setState(a, 'kept', { detail: 'work' })
        expect(store.worktrees.find(a)).toEqual({ ...worktree, state: 'kept', detail: 'work' })
        store.worktrees.setState(a, 'ready', { notes: [] })
        expect(store.worktrees.find(a)).toEqual({ ...worktree, state: 'ready', notes: [] })
        store.worktrees.setState(b, 'kept')
        expect(store.worktrees.list()).toHaveLength(1)
      })

      test('are gone when they are removed, once', () => {
        store.worktrees.insert(worktree)
        expect([store.worktrees.delete(a), store.worktrees.delete(a), store.worktrees.list()]).toEqual([
          true,
          false,
          [],
        ])
      })
    })

    describe('events', () => {
      test('they are numbered from one without gaps and read back in order', () => {
        expect([store.events.firstSeq(), store.events.lastSeq()]).toEqual([0, 0])
        expect(store.events.append(created, 10)).toEqual({ ...created, seq: 1, atMs: 10 })
        store.events.append({ type: 'backend.ready', backend: 'tmux', instanceId: 'f00d' }, 11)
        store.events.append(created, 12)
        expect(store.events.listAfter(0, 2).map((event) => event.seq)).toEqual([1, 2])
        expect(store.events.listAfter(1, 1)).toEqual([
          { type: 'backend.ready', backend: 'tmux', instanceId: 'f00d', seq: 2, atMs: 11 },
        ])
        expect(store.events.listAfter(3, 10)).toEqual([])
        expect([store.events.firstSeq(), store.events.lastSeq()]).toEqual([1, 3])
      })

      test('an absent field stays a field, so that a reader who comes back is told the same', () => {
        const told = store.events.append({ ...jobCreated, callerId: undefined }, 1)
        expect(store.events.listAfter(0, 1)).toStrictEqual([told])
      })

      test('a rolled back event leaves no gap', () => {
        store.events.append(created, 1)
        expect(() =>
          store.transaction(() => {
            store.events.append(created, 2)
            throw new Error('no')
          }),
        ).toThrow('no')
        expect(store.events.append(created, 3).seq).toBe(2)
      })

      test('trimming keeps the newest and never restarts the numbers', () => {
        for (let i = 0; i < 5; i++) store.events.append(created, i)
        expect(store.events.trim(10)).toBe(0)
        expect(store.events.trim(2)).toBe(3)
        expect([store.events.firstSeq(), store.events.lastSeq()]).toEqual([4, 5])
        expect(store.events.trim(0)).toBe(2)
        expect([store.events.firstSeq(), store.events.lastSeq()]).toEqual([0, 5])
        expect(store.events.append(created, 9).seq).toBe(6)
      })
    })

    describe('facts', () => {
      test('a fact is unknown until set, and replaced by the next', () => {
        expect(store.getFact('instance')).toBeUndefined()
        store.setFact('instance', '{"a":1}')
        store.setFact('instance', '{"a":2}')
        expect(store.getFact('instance')).toBe('{"a":2}')
      })
    })

    describe('transactions', () => {
      test('gives what the work gives and keeps all of it', () => {
        const seq = store.transaction(() => {
          store.setFact('a', '1')
          return store.events.append(created, 1).seq
        })
        expect([seq, store.getFact('a'), store.events.lastSeq()]).toEqual([1, '1', 1])
      })

      test('a throw rolls all of it back, and the store goes on working', () => {
        store.terminals.insert(newTerminal(a))
        expect(() =>
          store.transaction(() => {
            store.setFact('a', '1')
            store.terminals.step(a, 'open', { pane })
            store.messages.insert(newMessage(a))
            throw new Error('half way')
          }),
        ).toThrow('half way')
        expect(store.getFact('a')).toBeUndefined()
        expect(store.terminals.find(a)?.life).toBe('planned')
        expect(store.messages.list(a, { limit: 10 })).toEqual([])
        store.setFact('a', '2')
        expect(store.getFact('a')).toBe('2')
      })

      test('a nested one is part of the outer one', () => {
        expect(() =>
          store.transaction(() => {
            store.transaction(() => store.setFact('inner', '1'))
            throw new Error('outer')
          }),
        ).toThrow('outer')
        expect(store.getFact('inner')).toBeUndefined()
        store.transaction(() => {
          store.setFact('outer', '1')
          store.transaction(() => store.setFact('inner', '1'))
        })
        expect([store.getFact('outer'), store.getFact('inner')]).toEqual(['1', '1'])
      })

      test('a throw in a nested one rolls all of it back, even when the outer work caught it', () => {
        expect(() =>
          store.transaction(() => {
            store.setFact('outer', '1')
            try {
              store.transaction(() => {
                store.setFact('inner', '1')
                throw new Error('inner failed')
              })
            } catch {
              // The outer work thinks that it can go on.
            }
            store.setFact('after', '1')
          }),
        ).toThrow('inner failed')
        expect(['outer', 'inner', 'after'].map((key) => store.getFact(key))).toEqual([undefined, undefined, undefined])
      })

      test('a refusal of a method inside one is the work to judge: what else it wrote is kept', () => {
        store.terminals.insert(newTerminal(a))
        store.transaction(() => {
          store.setFact('before', '1')
          expectFault(() => store.messages.insert(newMessage(b)), 'NOT_FOUND')
          expectFault(() => store.terminals.insert(newTerminal(a)), 'CONFLICT')
          store.setFact('after', '1')
        })
        expect([store.getFact('before'), store.getFact('after')]).toEqual(['1', '1'])
      })

      test('work that would wait is refused and rolled back', () => {
        expect(() =>
          store.transaction(() => {
            store.setFact('a', '1')
            return Promise.resolve()
          }),
        ).toThrow('must not wait')
        expect(store.getFact('a')).toBeUndefined()
      })

      test('another connection sees nothing of it before its end, and all of it after', () => {
        const other = open()
        store.transaction(() => {
          store.setFact('a', '1')
          store.events.append(created, 1)
          expect([other.getFact('a'), other.events.lastSeq()]).toEqual([undefined, 0])
        })
        expect([other.getFact('a'), other.events.lastSeq()]).toEqual(['1', 1])
      })

      test('a full disk is a fault with a code, rolls back, and what stood before is still there', () => {
        const small = open({ isSmall: true })
        small.setFact('kept', '1')
        const fault = expectFault(
          () =>
            small.transaction(() => {
              small.setFact('lost', '1')
              for (let i = 0; i < 100; i++) small.setFact(`big ${i}`, 'x'.repeat(100_000))
            }),
          'STORAGE_FULL',
        )
        expect(fault.row.httpStatus).toBe(507)
        expect(fault.message).toContain('free disk space')
        expect([small.getFact('kept'), small.getFact('lost'), small.getFact('big 0')]).toEqual([
          '1',
          undefined,
          undefined,
        ])
      })
    })

    describe('retention', () => {
      beforeEach(() => {
        store.terminals.insert(newTerminal(a))
        store.terminals.insert(newTerminal(b))
      })

      test('drops what ended before the moment, of deleted terminals only', () => {
        for (const id of [a, b]) {
          const { id: message } = store.messages.insert(newMessage(id))
          walk(store, message, ['lease', 'refuse'], 500)
          const { id: job } = store.jobs.insert(newJob(jobId(id.slice(0, 1)))).job
          store.jobs.setWorker(job, id)
          store.jobs.step(job, 'cancel', { atMs: 500 })
          store.questions.insert(newQuestion(questionId(id.slice(0, 1)), id))
          store.questions.close(questionId(id.slice(0, 1)), 500, { state: 'expired' })
        }
        endTerminal(store, a, 600)
        expect(store.purge(400)).toMatchObject({ terminals: 0, messages: 0, events: 0 })
        const counts = { terminals: 0, messages: 1, jobs: 1, questions: 1, events: 0 }
        expect(store.purge(600, { isDryRun: true })).toEqual(counts)
        expect(store.purge(600, { isDryRun: true })).toEqual(counts)
        expect(store.purge(600)).toMatchObject({ terminals: 0, messages: 1, events: 0 })
        expect(store.purge(601)).toMatchObject({ terminals: 1, messages: 0, events: 0 })
        expect([store.terminals.find(a), store.jobs.find(jobId('a')), store.questions.find(questionId('a'))]).toEqual([
          undefined,
          undefined,
          undefined,
        ])
        expect(store.terminals.find(b)).toBeDefined()
        expect(store.messages.list(b, { limit: 10 })).toHaveLength(1)
        expect(store.jobs.find(jobId('b'))).toBeDefined()
        expect(store.questions.find(questionId('b'))).toBeDefined()
      })

      test('keeps a message that waits and a job that runs, and with them their terminal', () => {
        store.messages.insert(newMessage(a))
        const { id } = store.jobs.insert(newJob(jobId('1'))).job
        store.jobs.setWorker(id, b)
        endTerminal(store, a, 600)
        endTerminal(store, b, 600)
        expect(store.purge(10_000)).toMatchObject({ terminals: 0, messages: 0, events: 0 })
        expect(store.jobs.find(id)?.workerId).toBe(b)
      })

      test('keeps an ended job as long as its caller is not deleted', () => {
        const { id } = store.jobs.insert(newJob(jobId('1'), { callerId: a })).job
        store.jobs.setWorker(id, b)
        store.jobs.step(id, 'answer', { atMs: 500, result: answered })
        endTerminal(store, b, 600)
        expect(store.purge(10_000).terminals).toBe(1)
        expect(store.jobs.find(id)).toMatchObject({ workerId: undefined, result: answered })
      })

      test('drops events from the old end only, and never reuses a number', () => {
        for (const atMs of [10, 20, 30, 15]) store.events.append(created, atMs)
        expect(store.purge(25).events).toBe(2)
        expect([store.events.firstSeq(), store.events.lastSeq()]).toEqual([3, 4])
        expect(store.purge(1_000).events).toBe(2)
        expect(store.events.append(created, 40).seq).toBe(5)
      })

      test('the id of a dropped message never comes back', () => {
        const { id } = store.messages.insert(newMessage(a))
        walk(store, id, ['give_up'])
        endTerminal(store, a, 600)
        store.purge(10_000)
        expect(store.messages.find(id)).toBeUndefined()
        expect(store.messages.insert(newMessage(b)).id).toBe(id + 1)
      })
    })

    describe('the file', () => {
      test('keeps everything over closing and opening', () => {
        store.sessions.insert({ name: sessionName, createdAtMs: 1, workingDirectory: '/' })
        store.terminals.insert(newTerminal(a, { metadata: { x: [1] } }))
        store.terminals.step(a, 'open', { pane })
        store.terminals.saveCursor(a, { outputOffset: 5, hookOffset: 6, turnsEnded: 7 })
        const message = store.messages.insert(newMessage(a))
        walk(store, message.id, ['lease', 'begin_typing'])
        store.jobs.insert(newJob(jobId('1'), { requestKey: 'k' }))
        store.questions.insert(newQuestion(questionId('1'), a))
        store.events.append(created, 1)
        store.setFact('f', 'v')
        const look = (each: Store) => [
          each.sessions.list(),
          each.terminals.list(),
          each.terminals.loadCursor(a),
          each.messages.listByState(['typing']),
          each.jobs.listOpen(),
          each.questions.listOpen(),
          each.events.listAfter(0, 10),
          each.getFact('f'),
        ]
        const before = look(store)
        store[Symbol.dispose]()
        store[Symbol.dispose]()
        expect(look(open())).toEqual(before)
        expect(before.every((each) => typeof each !== 'object' || !Array.isArray(each) || each.length === 1)).toBe(true)
      })

      test('holds every announced write, and no half one, after its writer was killed in the middle', async () => {
        for (const writesMin of [1, 40]) {
          const announced = await killWriter([...storeCase.writer, path], writesMin)
          const after = open()
          const written = Number(after.getFact('written'))
          expect(written).toBeGreaterThanOrEqual(announced)
          const seqs = after.events.listAfter(0, 100_000).map((event) => event.seq)
          expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, i) => i + 1))
          expect(after.events.lastSeq()).toBe(written)
          expect(after.events.append(created, 1).seq).toBe(written + 1)
          after.setFact('written', String(written + 1))
        }
      })
    })
  })
}

/** Runs the writer until it has announced `writesMin` more writes, kills it, and gives the last number that it announced. */
async function killWriter(command: readonly string[], writesMin: number): Promise<number> {
  const [program = '', ...args] = command
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  let announced = 0
  let lines = 0
  for await (const line of createInterface({ input: child.stdout })) {
    announced = Number(line)
    if (++lines === writesMin) child.kill('SIGKILL')
  }
  await ended
  expect(child.signalCode).toBe('SIGKILL')
  return announced
}
