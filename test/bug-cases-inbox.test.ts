/** Reports about inboxes, and people who type past CAO: each on a real server, real tmux and, where a person is meant, a real client. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EventBody } from '../src/protocol/event.ts'
import { Person } from './incident.case.ts'
import { TestWorld, until } from './world.case.ts'

let world: TestWorld
beforeAll(async () => {
  world = await TestWorld.open()
  await world.startServer({ env: { CAO_HOLD_ON_INTERRUPT: 'yes' } })
}, 60_000)
afterAll(() => world[Symbol.asyncDispose](), 60_000)

type Told<T extends EventBody['type']> = Extract<EventBody, { readonly type: T }>
function untilTold<T extends EventBody['type']>(type: T, id: string): Promise<Told<T>> {
  return until(`${type} of ${id}`, 20_000, async () => {
    const { events } = await world.client.listEvents({ limit: 500 })
    return events.findLast(
      (event): event is Told<T> => event.type === type && 'terminal_id' in event && event.terminal_id === id,
    )
  })
}
const bodies = (id: string) => world.accepted(id).map((text) => text.split('\n').at(-1))

test('IB-01, IB-13: messages to an agent that rests and prints nothing are all taken, in the order in which they were sent', async () => {
  const id = await world.agent({ session: 'inbox-order' })
  await world.waitForStatus(id, 'idle')
  const sent = Array.from({ length: 12 }, (_, index) => `reply number ${index}`)
  for (const message of sent) await world.client.sendMessage(id, { message })
  await until('all to be taken', 40_000, () => (world.accepted(id).length >= sent.length ? true : undefined))
  expect(bodies(id)).toEqual(sent)
}, 60_000)

test('IB-08: nobody sends a message to itself', async () => {
  const id = await world.agent({ session: 'inbox-self' })
  await expect(world.client.sendMessage(id, { message: 'my result', sender_id: id })).rejects.toMatchObject({
    code: 'BAD_REQUEST',
    message: 'a terminal can not send a message to itself',
  })
}, 60_000)

test('IB-06: what waits for an agent that is deleted ends, and says why', async () => {
  const id = await world.agent({ session: 'inbox-gone' })
  await world.client.sendInput(id, { message: 'hang' })
  const sent = [
    await world.client.sendMessage(id, { message: 'one' }),
    await world.client.sendMessage(id, { message: 'two' }),
  ]
  await world.client.deleteTerminal(id)
  const ends = await Promise.all(sent.map(({ message_id }) => world.client.getMessage(message_id)))
  expect(ends.map(({ state, status, detail }) => [state, status, detail])).toEqual(
    ends.map(() => ['undeliverable', 'failed', `terminal ${id} was deleted`]),
  )
}, 60_000)

test('what a person types at an attached client is told as theirs, with the client, and no message of ours is', async () => {
  const id = await world.agent({ session: 'people-type' })
  await world.client.sendInput(id, { message: 'reply ours' })
  await world.waitForStatus(id, 'completed')
  using person = new Person(world, 'cao-people-type', { cols: 200, rows: 51 })
  await person.sees('ours')
  person.press('reply mine', 'Enter')
  const told = await untilTold('person.typed', id)
  expect(told).toMatchObject({ chars: 'reply mine'.length, clients: [expect.stringMatching(/^\/dev\/pts\/\d+$/)] })
  const { events } = await world.client.listEvents({ limit: 500 })
  expect(events.filter((event) => event.type === 'person.typed' && event.terminal_id === id)).toHaveLength(1)
}, 60_000)

test('a person who interrupts an agent is told of, and nothing is typed into it until they go on', async () => {
  const id = await world.agent({ session: 'people-stop' })
  await world.client.sendInput(id, { message: 'slow 60' })
  await world.waitForStatus(id, 'processing')
  const waiting = await world.client.sendMessage(id, { message: 'reply after you', sender_id: 'script' })
  using person = new Person(world, 'cao-people-stop', { cols: 200, rows: 51 })
  person.press('Escape')
  expect(await untilTold('turn.interrupted', id)).toMatchObject({ by: 'person/pane' })
  expect(await untilTold('terminal.held', id)).toMatchObject({ by: 'person/pane', detail: 'an interrupt' })
  const held = await until('the hold to show', 20_000, async () => {
    const { facts } = await world.client.explain(id)
    return facts['hold'] === 'none' ? undefined : facts['hold']
  })
  expect(held).toContain('the queue is held by person/pane (an interrupt)')
  expect(await world.client.getMessage(waiting.message_id)).toMatchObject({ state: 'queued' })
  const released = await world.run('cao', ['release', id, '--json'])
  expect([released.code, (JSON.parse(released.out) as { id: string }).id]).toEqual([0, id])
  await until('the message to be taken', 20_000, () => (bodies(id).includes('reply after you') ? true : undefined))
}, 90_000)

test('`cao key Escape` is an interrupt of the person at the socket, and `cao hold` holds', async () => {
  const id = await world.agent({ session: 'people-key' })
  await world.client.sendInput(id, { message: 'slow 60' })
  await world.waitForStatus(id, 'processing')
  expect((await world.run('cao', ['key', id, 'Escape'])).code).toBe(0)
  expect(await untilTold('turn.interrupted', id)).toMatchObject({ by: 'person/unix' })
  expect((await world.run('cao', ['release', id])).code).toBe(0)
  expect((await world.run('cao', ['hold', id, '--why', 'I read'])).out).toBe(
    `the queue of ${id} is held; messages that wait: 0\n`,
  )
  // A person's own input lets it go on.
  expect((await world.run('cao', ['send', id, 'reply hello'])).code).toBe(0)
  expect(await untilTold('terminal.released', id)).toMatchObject({ by: 'person/unix' })
}, 90_000)

test('a question that is answered at the pane, through CAO, or by nobody: each is told apart', async () => {
  const id = await world.agent({ session: 'questions-end' })
  const ask = async (words: string) => {
    await world.client.sendInput(id, { message: `ask ${words}? | red | blue\nreply done`, wait_s: 5 })
    return until(`the question ${words}`, 20_000, async () =>
      (await world.client.listQuestions(id)).find(({ text }) => text.startsWith(words)),
    )
  }
  const stateOf = (question: string) =>
    until(`the end of ${question}`, 20_000, async () => {
      const found = await world.client.listQuestions(id, { query: { state: 'all' } })
      const { state, answered_by } = found.find((each) => each.id === question) ?? {}
      return state === 'open' ? undefined : [state, answered_by]
    })
  const first = await ask('At the pane')
  {
    using person = new Person(world, 'cao-questions-end', { cols: 200, rows: 51 })
    await person.sees('At the pane')
    person.press('Enter')
    expect(await stateOf(first.id)).toEqual(['answered', 'pane'])
  }
  await world.waitForStatus(id, 'completed')
  const second = await ask('Through CAO')
  const listed = await world.run('cao', ['questions'])
  expect(listed.out).toContain(`${second.id}  ${id}  question  open`)
  expect((await world.run('cao', ['questions', 'answer', second.id, 'blue'])).out).toBe(
    `${second.id} is answered: blue\n`,
  )
  expect(await stateOf(second.id)).toEqual(['answered', 'person/unix'])
  const again = await world.run('cao', ['questions', 'answer', second.id, 'red'])
  expect([again.code, again.err]).toEqual([
    9,
    expect.stringContaining('is closed already: answered by person/unix ("blue")'),
  ])
  await world.waitForStatus(id, 'completed')
  const third = await ask('Never')
  world.tmux('kill-pane', '-t', '=cao-questions-end:')
  expect(await stateOf(third.id)).toEqual(['expired', null])
}, 120_000)
