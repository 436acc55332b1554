/** What is kept of messages beyond their way to the receiver: rungs, dead letters, how urgent they are. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DeliveryStep } from '../../domain/delivery.ts'
import { AppError, type ErrorCode } from '../../domain/errors.ts'
import type { MessageId, MessageToken, SessionName, TerminalId } from '../../domain/ids.ts'
import { rungsMax } from '../../domain/message.ts'
import { newTerminal } from '../rows.case.ts'
import type { MessageFilter, NewMessage, Store } from '../store.ts'
import { openStore } from './open.ts'

const a = 'aaaaaaaa' as TerminalId
const b = 'bbbbbbbb' as TerminalId
let dir = ''
let store: Store
let tokens = 0
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'cao-messages-'))
  store = openStore({ path: join(dir, 'cao.db') })
  store.sessions.insert({ name: 'cao-x' as SessionName, createdAtMs: 1, workingDirectory: '/' })
  for (const id of [a, b]) store.terminals.insert(newTerminal(id))
})
afterEach(() => {
  store[Symbol.dispose]()
  rmSync(dir, { recursive: true, force: true })
})

const newMessage = (receiverId: TerminalId, changes: Partial<NewMessage> = {}): NewMessage => ({
  token: (tokens++).toString(16).padStart(12, '0') as MessageToken,
  kind: 'send_message',
  senderId: 'user',
  receiverId,
  jobId: undefined,
  body: 'hello',
  createdAtMs: 200,
  ...changes,
})
const walk = (rows: Store, id: MessageId, steps: readonly DeliveryStep[], atMs = 500): void => {
  for (const step of steps) expect(rows.messages.step(id, step, { atMs })).toMatchObject({ kind: 'moved' })
}
const expectFault = (call: () => unknown, code: ErrorCode): void => {
  try {
    call()
  } catch (error) {
    expect(error).toMatchObject({ name: AppError.name, code })
    return
  }
  expect.unreachable('it was done')
}

test('every rung is kept with its time, of very many the first and the newest, and proof and outcome stay', () => {
  const { id } = store.messages.insert(newMessage(a))
  for (let round = 0; round < rungsMax; round++) walk(store, id, ['lease', 'release'], 300 + round)
  walk(store, id, ['lease', 'begin_typing', 'type'], 900)
  store.messages.step(id, 'confirm', { atMs: 901, proof: 'hook' })
  walk(store, id, ['start_turn'], 902)
  store.messages.step(id, 'answer', { atMs: 903, turnOutcome: 'interrupted' })
  const message = store.messages.find(id)
  expect(message).toMatchObject({ proof: 'hook', turnOutcome: 'interrupted' })
  expect(message?.rungs).toHaveLength(rungsMax)
  expect([message?.rungs.at(0), message?.rungs.at(-1)]).toEqual([
    { state: 'queued', atMs: 200 },
    { state: 'answered', atMs: 903 },
  ])
})

test('dead letters are found until they are sent again, once, or dropped, once', () => {
  const make = (receiver: TerminalId, changes: Partial<NewMessage> = {}) =>
    store.messages.insert(newMessage(receiver, changes)).id
  const [dead, late, queued] = [make(a, { senderId: 'x' }), make(b), make(a)]
  for (const id of [dead, late]) walk(store, id, ['give_up'])
  const search = (filter: Partial<MessageFilter>) => store.messages.search({ limit: 10, ...filter }).map(({ id }) => id)
  expect(search({})).toEqual([queued, late, dead])
  expect(search({ limit: 1 })).toEqual([queued])
  expect(search({ isDead: true })).toEqual([late, dead])
  expect(search({ isDead: true, senderId: 'x' })).toEqual([dead])
  expect(search({ receiverId: a, states: ['queued'] })).toEqual([queued])
  const again = store.messages.insert(newMessage(a, { resendOf: dead }))
  expect([again.resendOf, store.messages.findResend(dead)?.id]).toEqual([dead, again.id])
  expectFault(() => store.messages.insert(newMessage(a, { resendOf: dead })), 'CONFLICT')
  expect([store.messages.drop(late, 700), store.messages.drop(late, 800)]).toEqual([true, false])
  expect(store.messages.find(late)).toMatchObject({ droppedAtMs: 700, state: 'undeliverable' })
  expect(search({ isDead: true })).toEqual([])
})

test('the urgent ones come with what their senders sent before them, and with nothing else', () => {
  const make = (senderId: string, deliveryClass: 'idle' | 'gap' | 'interrupt') =>
    store.messages.insert(newMessage(a, { senderId, deliveryClass })).id
  const list = () => store.messages.listUrgent(a).map(({ id }) => id)
  const [, own] = [make('x', 'idle'), make('y', 'idle')]
  expect(list()).toEqual([])
  const gap = make('y', 'gap')
  make('y', 'idle')
  expect(list()).toEqual([own, gap])
  walk(store, gap, ['lease'])
  expect(list()).toEqual([])
})
