/**
 * Delivery against a modelled composer on the real store, with crashes of ours at any call and the misbehaviours of
 * real programs. What must hold whatever happens: typed at most once; confirmed only when accepted; nothing accepted
 * twice; order kept; nothing left waiting without a word.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ManualClock } from '../async/clock-manual.ts'
import { makeMessageToken, type RandomHex, type SessionName, type TerminalId } from '../domain/ids.ts'
import type { DeliveryClass, Message } from '../domain/message.ts'
import { silentLog } from '../lib/log.ts'
import { newTerminal } from '../store/rows.case.ts'
import { openStore } from '../store/sqlite/open.ts'
import type { Store } from '../store/store.ts'
import { ComposerModel, type Misbehaviour } from './composer-model.case.ts'
import { InboxWorker } from './inbox-worker.ts'
import { Ladder } from './ladder.ts'
import { TurnTracker } from './turn-tracker.ts'

let dir = ''
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'cao-delivery-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

let counter = 0
const random: RandomHex = (digits) => (counter++).toString(16).padStart(digits, '0')

function insertTerminal(store: Store, id: TerminalId): void {
  const sessionName = `cao-${id}` as SessionName
  store.sessions.insert({ name: sessionName, createdAtMs: 1, workingDirectory: '/' })
  store.terminals.insert(newTerminal(id, { sessionName }))
}

type Plan = {
  readonly behaviour: Misbehaviour
  readonly hasProofOfBody: boolean
  readonly messages: number
  /** How urgent each is, and whether it is too long to be typed; those that are not named are neither. */
  readonly kinds?: readonly { readonly deliveryClass: DeliveryClass; readonly isLong: boolean }[]
  /** The n-th port call of each life of the worker is its last; before or after its effect. */
  readonly crashes: readonly { readonly atCall: number; readonly isAfter: boolean }[]
}

const planArbitrary: fc.Arbitrary<Plan> = fc.record({
  behaviour: fc.record({
    swallowedEnters: fc.nat(3),
    paintMs: fc.constantFrom(0, 30, 500, 2_000, 30_000),
    turnMs: fc.constantFrom(1, 50, 5_000),
    isRecorded: fc.boolean(),
    isRestoring: fc.boolean(),
  }),
  hasProofOfBody: fc.boolean(),
  messages: fc.integer({ min: 1, max: 4 }),
  kinds: fc.array(fc.record({ deliveryClass: fc.constantFrom('idle', 'idle', 'interrupt'), isLong: fc.boolean() }), {
    maxLength: 4,
  }),
  crashes: fc.array(fc.record({ atCall: fc.integer({ min: 1, max: 16 }), isAfter: fc.boolean() }), { maxLength: 4 }),
})

type Outcome = { readonly messages: readonly Message[]; readonly model: ComposerModel }

async function play(store: Store, plan: Plan): Promise<Outcome> {
  const clock = new ManualClock()
  const id = random(8) as TerminalId
  insertTerminal(store, id)
  const ladder = new Ladder({ store, clock, log: silentLog, announce: () => undefined })
  const tracker = new TurnTracker({ id, store, ladder })
  const model = new ComposerModel(clock, id, plan.behaviour)
  const receiver = model.asReceiver(plan.hasProofOfBody)
  let worker: InboxWorker | undefined
  model.onAccepted = (text) => void tracker.noteAccepted(text, 'hook')
  model.onTurnStarted = () => tracker.noteTurnStarted()
  model.onTurnEnded = (outcome) => {
    tracker.noteTurnEnded(outcome)
    worker?.wake()
  }
  for (let i = 0; i < plan.messages; i++) {
    store.messages.insert({
      token: makeMessageToken(random),
      kind: 'send_message',
      senderId: 'user',
      receiverId: id,
      jobId: undefined,
      body: plan.kinds?.[i]?.isLong === true ? `body ${i} ${'long '.repeat(20)}` : `body ${i}`,
      deliveryClass: plan.kinds?.[i]?.deliveryClass ?? 'idle',
      createdAtMs: clock.nowMs(),
    })
  }
  for (const crash of [...plan.crashes, undefined]) {
    const life = new AbortController()
    let calls = 0
    const die = () => {
      life.abort(new Error('crash'))
      throw new Error('crash')
    }
    model.beforeEffect = () => {
      if (life.signal.aborted) throw new Error('a dead worker touched the terminal')
      calls++
      if (crash !== undefined && calls === crash.atCall && !crash.isAfter) die()
    }
    model.afterEffect = () => {
      if (crash !== undefined && calls === crash.atCall && crash.isAfter) die()
    }
    worker = new InboxWorker({ receiver, store, ladder, clock, log: silentLog })
    const run = worker.run(life.signal)
    // Longer than everything that may hold a queue.
    for (let i = 0; i < 900 && !life.signal.aborted; i++) await clock.advance(1_000)
    life.abort(new Error('over'))
    await run
  }
  return { messages: store.messages.list(id, { limit: 100 }), model }
}

const took = (message: Message, model: ComposerModel) =>
  model.accepted.filter((text) => text.includes(message.token)).length
const isTaken = (message: Message) => ['confirmed', 'turn_started', 'answered'].includes(message.state)

test('whatever crashes and misbehaves: typed at most once, confirmed only when taken, in order, never left without a word', async () => {
  using store = openStore({ path: join(dir, 'model.db') })
  await fc.assert(
    fc.asyncProperty(planArbitrary, async (plan) => {
      const { messages, model } = await play(store, plan)
      for (const message of messages) {
        expect(
          model.pastes.filter((text) => text.includes(message.token)).length,
          `pastes of ${message.state}`,
        ).toBeLessThanOrEqual(1)
        expect(took(message, model)).toBeLessThanOrEqual(1)
        if (isTaken(message)) expect(took(message, model), `taken: ${message.detail}`).toBe(1)
        if (isTaken(message) && message.body.includes('long ')) {
          expect(model.files.get(message.token), 'the file that was pointed to').toBe(message.body)
        }
        // An agent that was interrupted and goes on is a refusal; this one stops.
        expect(['answered', 'confirmed', 'turn_started', 'unconfirmed', 'queued']).toContain(message.state)
        // Queued after all this time only behind a draft that holds the composer.
        if (message.state === 'queued') expect(model.composer).not.toBe('')
      }
      const order = messages
        .map((message) => model.accepted.findIndex((text) => text.includes(message.token)))
        .filter((place) => place >= 0)
      expect(order).toEqual(order.toSorted((a, b) => a - b))
    }),
    { numRuns: 150 },
  )
}, 120_000)

test('without crashes and with at most one lost Enter everything is answered', async () => {
  using store = openStore({ path: join(dir, 'calm.db') })
  const calm = fc.record({
    behaviour: fc.record({
      swallowedEnters: fc.nat(1),
      paintMs: fc.constantFrom(0, 30, 500),
      turnMs: fc.constantFrom(1, 50, 5_000),
      isRecorded: fc.constant(true),
    }),
    hasProofOfBody: fc.boolean(),
    messages: fc.integer({ min: 1, max: 4 }),
    crashes: fc.constant([]),
  })
  await fc.assert(
    fc.asyncProperty(calm, async (plan) => {
      const { messages } = await play(store, plan)
      expect(messages.map((message) => message.state)).toEqual(messages.map(() => 'answered'))
    }),
    { numRuns: 20 },
  )
}, 60_000)

test('a text that a frozen program has not shown holds the queue, is submitted when it appears, and nothing is typed behind it', async () => {
  using store = openStore({ path: join(dir, 'frozen.db') })
  const frozen = fc.record({
    behaviour: fc.record({
      swallowedEnters: fc.constant(0),
      // As long as a program was seen frozen, and longer than one attempt may last.
      paintMs: fc.constantFrom(15_000, 30_000, 90_000, 150_000),
      turnMs: fc.constantFrom(1, 5_000),
      isRecorded: fc.constant(true),
    }),
    hasProofOfBody: fc.boolean(),
    messages: fc.integer({ min: 1, max: 2 }),
    // The server may be started again meanwhile.
    crashes: fc.array(fc.record({ atCall: fc.integer({ min: 3, max: 40 }), isAfter: fc.boolean() }), { maxLength: 2 }),
  })
  await fc.assert(
    fc.asyncProperty(frozen, async (plan) => {
      const { messages, model } = await play(store, plan)
      expect(messages.map((message) => message.state)).toEqual(messages.map(() => 'answered'))
      expect(model.accepted).toHaveLength(messages.length)
    }),
    { numRuns: 30 },
  )
}, 60_000)

test('an interrupt cuts the turn, its given-back prompt is taken away, and everything is answered', async () => {
  using store = openStore({ path: join(dir, 'interrupts.db') })
  const urgent = fc.record({
    behaviour: fc.record({
      swallowedEnters: fc.nat(1),
      paintMs: fc.constantFrom(0, 30, 500),
      turnMs: fc.constantFrom(50, 600_000),
      isRecorded: fc.constant(true),
      isRestoring: fc.boolean(),
    }),
    hasProofOfBody: fc.boolean(),
    messages: fc.integer({ min: 2, max: 4 }),
    // An endless turn is cut by what comes behind it.
    kinds: fc.constant(Array.from({ length: 4 }, () => ({ deliveryClass: 'interrupt', isLong: false }) as const)),
    crashes: fc.array(fc.record({ atCall: fc.integer({ min: 1, max: 16 }), isAfter: fc.boolean() }), { maxLength: 1 }),
  })
  await fc.assert(
    fc.asyncProperty(urgent, async (plan) => {
      const { messages, model } = await play(store, plan)
      for (const message of messages) expect(took(message, model)).toBeLessThanOrEqual(1)
      const ours = new Set(model.accepted)
      expect(model.cleared.every((text) => ours.has(text))).toBe(true)
      if (plan.crashes.length > 0) return
      expect(messages.map(({ state }) => state)).toEqual(messages.map(() => 'answered'))
      expect(model.accepted).toHaveLength(messages.length)
    }),
    { numRuns: 40 },
  )
}, 60_000)

test("a prompt that was given back and then changed by a person is the person's draft", async () => {
  using store = openStore({ path: join(dir, 'hands.db') })
  const clock = new ManualClock()
  const id = random(8) as TerminalId
  insertTerminal(store, id)
  const behaviour = { swallowedEnters: 0, paintMs: 0, turnMs: 600_000, isRecorded: true, isRestoring: true }
  const model = new ComposerModel(clock, id, behaviour)
  const ladder = new Ladder({ store, clock, log: silentLog, announce: () => undefined })
  const tracker = new TurnTracker({ id, store, ladder })
  model.onAccepted = (text) => void tracker.noteAccepted(text, 'hook', true)
  model.onTurnEnded = (outcome) => void tracker.noteTurnEnded(outcome)
  const worker = new InboxWorker({ receiver: model.asReceiver(true), store, ladder, clock, log: silentLog })
  const queue = (body: string) =>
    store.messages.insert({
      token: makeMessageToken(random),
      kind: 'send_message',
      senderId: 'user',
      receiverId: id,
      jobId: undefined,
      body,
      createdAtMs: clock.nowMs(),
    }).id
  const first = queue('first')
  const life = new AbortController()
  const run = worker.run(life.signal)
  for (let i = 0; i < 10; i++) await clock.advance(1_000)
  expect(store.messages.find(first)?.state).toBe('turn_started')
  await model.asReceiver(true).press([{ kind: 'key', name: 'Escape' }], life)
  model.typeByHand(' and more')
  const second = queue('second')
  worker.wake()
  for (let i = 0; i < 60; i++) await clock.advance(1_000)
  expect(store.messages.find(first)?.turnOutcome).toBe('interrupted')
  expect([store.messages.find(second)?.state, worker.holdWhy]).toEqual([
    'queued',
    'somebody has a draft in the composer',
  ])
  expect(model.cleared).toEqual([])
  model.composer = model.accepted[0] ?? ''
  model.typeByHand('')
  worker.wake()
  for (let i = 0; i < 10; i++) await clock.advance(1_000)
  expect(store.messages.find(second)?.state).toBe('turn_started')
  expect(model.cleared).toEqual([model.accepted[0]])
  life.abort(new Error('over'))
  await run
}, 30_000)
