/**
 * A message on its way when the server dies: whatever step it had reached, it is taken once by its receiver, or its sender is
 * told that nobody can know. The counts are those of the receivers' own records. What a crash leaves in the store is laid
 * there for each step, since most of them last less than a millisecond; the long ones are met by a real crash.
 */
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  crashServer,
  endedJob,
  giveTask,
  messageState,
  paneOf,
  pause,
  recorded,
  send,
  timesTaken,
} from './restart.case.ts'
import { readIfThere, TestWorld, until } from './world.case.ts'

let world: TestWorld
beforeEach(async () => {
  world = await TestWorld.open()
  await world.startServer()
})
afterEach(() => world[Symbol.asyncDispose]())

/** Paste of a message as the server does it, with the mark that it leaves; `isSent` presses Enter too. */
function pasteAsServer(id: string, row: { token: string; body: string; sender_id: string }, isSent: boolean): void {
  const pane = paneOf(world, id)
  world.tmux('set-option', '-p', '-t', pane, '@cao_last_paste', row.token)
  world.tmux('set-buffer', '-b', 'test', '--', `[cao send_message ${row.token} from ${row.sender_id}]\n${row.body}`)
  world.tmux('paste-buffer', '-d', '-p', '-b', 'test', '-t', pane)
  if (isSent) world.tmux('send-keys', '-t', pane, 'Enter')
}

const steps = [
  'leased',
  'typing',
  'typing, pasted',
  'typed, draft',
  'typed, sent',
  'typed, sent unheard',
  'typed, vanished',
] as const

test('a message is delivered once from every step of its way, or its sender is told that nothing proves it', async () => {
  const sender = await world.agent()
  const agents = new Map(await Promise.all(steps.map(async (step) => [step, await world.agent()] as const)))
  const messages = new Map<string, number>()
  for (const [step, id] of agents) {
    // A draft of a person holds the message until it is laid where the crash left it.
    world.tmux('send-keys', '-t', paneOf(world, id), '-l', 'a draft')
    await until('the draft to be seen', 10_000, async () =>
      (await world.client.readOutput(id, 'screen')).output.includes('a draft') ? true : undefined,
    )
    messages.set(step, await send(world, id, 'reply got it', sender))
  }
  await crashServer(world, async () => {
    using store = openStore()
    for (const [step, id] of agents) {
      world.tmux('send-keys', '-t', paneOf(world, id), 'C-u')
      const [state = ''] = step.split(',')
      store.setState(messages.get(step) ?? 0, state)
    }
    await pause(300)
    for (const [step, id] of agents) {
      const row = store.read(messages.get(step) ?? 0)
      if (step === 'typing, pasted' || step === 'typed, draft') pasteAsServer(id, row, false)
      if (!step.startsWith('typed, sent')) continue
      const index = join(world.world.layout.terminalsDir, id, 'spool', 'index')
      const length = readFileSync(index).length
      pasteAsServer(id, row, true)
      await recorded(world, id, 'assistant')
      await pause(300)
      if (step === 'typed, sent unheard') truncateSync(index, length)
    }
  })
  for (const [step, id] of agents) {
    const isLost = step === 'typed, vanished'
    await messageState(world, messages.get(step) ?? 0, isLost ? 'unconfirmed' : 'answered', 40_000)
    expect(timesTaken(world, id, 'got it'), step).toBe(isLost ? 0 : 1)
  }
  const told = `Your message ${messages.get('typed, vanished')} to ${agents.get('typed, vanished')} is unconfirmed`
  await until('the sender to be told', 30_000, () => (timesTaken(world, sender, told) > 0 ? true : undefined))
  expect(timesTaken(world, sender, 'is unconfirmed')).toBe(1)
}, 120_000)

test('a crash while a slow composer hides the draft, or swallows Enter, neither loses nor doubles the message', async () => {
  const [slow, swallowing] = await Promise.all([world.agent(), world.agent()])
  await messageState(world, await send(world, slow, 'slow-paint 3000\nreply slow now'), 'answered')
  await messageState(world, await send(world, swallowing, 'swallow-enter 1\nreply deaf now'), 'answered')
  await pause(3_500)
  const hidden = await send(world, slow, 'reply got hidden')
  await messageState(world, hidden, 'typed')
  await crashServer(world)
  const swallowed = await send(world, swallowing, 'reply got swallowed')
  await messageState(world, swallowed, 'typed')
  await crashServer(world)
  await messageState(world, hidden, 'answered', 40_000)
  await messageState(world, swallowed, 'answered', 40_000)
  expect(timesTaken(world, slow, 'got hidden')).toBe(1)
  expect(timesTaken(world, swallowing, 'got swallowed')).toBe(1)
}, 120_000)

test('kill -9 at eight moments of a delivery: each message is taken exactly once', async () => {
  const id = await world.agent()
  for (const [round, afterMs] of [0, 3, 8, 14, 22, 35, 55, 80].entries()) {
    const message = await send(world, id, `reply round-${round}-done`)
    await pause(afterMs)
    await crashServer(world)
    await messageState(world, message, 'answered', 40_000)
  }
  for (let round = 0; round < 8; round++) expect(timesTaken(world, id, `round-${round}-done`)).toBe(1)
}, 120_000)

test('what an agent sends while no server runs is delivered once, also when its file comes again', async () => {
  const [sender, receiver] = await Promise.all([world.agent(), world.agent()])
  const args = JSON.stringify({ receiver_id: receiver, message: 'reply from the outbox' })
  await send(world, sender, `wait 1500\ncall send_message ${args}\nreply sent`)
  await world.waitForStatus(sender, 'processing')
  const { outboxDir } = world.world.layout
  const kept = join(world.world.folder, 'kept')
  mkdirSync(kept)
  await crashServer(world, async () => {
    await recorded(world, sender, 'assistant', 'sent')
    const names = readdirSync(outboxDir)
    expect(names).toHaveLength(1)
    for (const name of names) copyFileSync(join(outboxDir, name), join(kept, name))
  })
  await until('the message to arrive', 30_000, () =>
    timesTaken(world, receiver, 'from the outbox') > 0 ? true : undefined,
  )
  await crashServer(world, async () => {
    for (const name of readdirSync(kept)) copyFileSync(join(kept, name), join(outboxDir, name))
    // Nobody writes into this pipe: whoever reads it like a file waits for ever.
    execFileSync('mkfifo', [join(outboxDir, `${randomUUID()}.json`)])
  })
  await until('the file to be taken away', 15_000, () =>
    readdirSync(outboxDir).every((name) => name.endsWith('.refused')) ? true : undefined,
  )
  await messageState(world, await send(world, receiver, 'reply after it'), 'answered')
  expect(timesTaken(world, receiver, 'from the outbox')).toBe(1)
}, 90_000)

test('a deletion that a crash cut short is carried to its end, and a frozen or stopped server loses nothing', async () => {
  const [doomed, worker, other] = await Promise.all([world.agent(), world.agent(), world.agent()])
  const doomedJob = await giveTask(world, doomed, 'slow 60')
  await world.waitForStatus(doomed, 'processing')
  const agentPid = Number(readIfThere(join(world.world.layout.terminalsDir, doomed, 'pid')))
  // Stopped, it does not end when it is asked to: the deletion lasts long enough to be met.
  process.kill(agentPid, 'SIGSTOP')
  const cutShort = world.client.deleteTerminal(doomed).catch((error: unknown) => error)
  await until('the deletion to begin', 10_000, async () =>
    (await world.client.getTerminal(doomed)).life === 'deleting' ? true : undefined,
  )
  await crashServer(world)
  await cutShort
  await until('the end of the deletion', 30_000, async () =>
    (await world.client.listTerminals()).some(({ id }) => id === doomed) ? undefined : true,
  )
  // One that nobody has reaped yet has no command line either.
  await until('the end of its process', 10_000, () =>
    readIfThere(`/proc/${agentPid}/cmdline`).includes(doomed) ? undefined : true,
  )
  expect(await endedJob(world, doomedJob.id)).toMatchObject({ state: 'failed' })

  const frozenJob = await giveTask(world, worker, 'slow 2\nreply through the frost')
  await world.waitForStatus(worker, 'processing')
  const queued = await send(world, worker, 'reply got-frozen')
  world.server?.kill('SIGSTOP')
  await recorded(world, worker, 'assistant', 'through the frost')
  await pause(6_000)
  world.server?.kill('SIGCONT')
  expect((await endedJob(world, frozenJob.id)).output).toContain('through the frost')
  await messageState(world, queued, 'answered')
  expect(timesTaken(world, worker, 'got-frozen')).toBe(1)

  const stoppedJob = await giveTask(world, other, 'slow 2\nreply past the stop')
  await world.waitForStatus(other, 'processing')
  const later = await send(world, other, 'reply got-later')
  await world.endServer('SIGTERM')
  await recorded(world, other, 'assistant', 'past the stop')
  await world.startServer()
  expect((await endedJob(world, stoppedJob.id)).output).toContain('past the stop')
  await messageState(world, later, 'answered')
  expect(timesTaken(world, other, 'got-later')).toBe(1)
}, 120_000)

type MessageRow = { readonly token: string; readonly body: string; readonly sender_id: string }

/** The store of the ended server, to lay a row where a crash would have left it. */
function openStore() {
  const database = new DatabaseSync(world.world.layout.dbFile)
  return {
    setState(id: number, state: string): void {
      database.prepare('UPDATE messages SET state = ? WHERE id = ?').run(state, id)
    },
    read(id: number): MessageRow {
      return database.prepare('SELECT token, body, sender_id FROM messages WHERE id = ?').get(id) as MessageRow
    },
    [Symbol.dispose]: () => database.close(),
  }
}
