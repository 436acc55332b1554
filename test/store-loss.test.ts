/** The database is damaged, or somebody moved it away, while agents run: what is said, what comes back, what is lost. */
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { messageState, send } from './restart.case.ts'
import { TestWorld, until } from './world.case.ts'

let world: TestWorld
let ids: readonly [string, string]
beforeEach(async () => {
  world = await TestWorld.open()
  await world.startServer()
  ids = [await world.agent({ session: 'cao-loss' }), await world.agent()]
  await world.client.setMetadata(ids[0], { kept: true })
  await send(world, ids[0], 'reply before')
  await world.waitForStatus(ids[0], 'completed')
}, 60_000)
afterEach(() => world[Symbol.asyncDispose](), 60_000)

/** The agents are whole again: status, delivery and hooks. */
async function checkAgents(): Promise<void> {
  for (const id of ids) {
    expect(await world.run('cao', ['send', id, 'reply after'])).toMatchObject({ code: 0 })
    await world.waitForStatus(id, 'completed')
    expect((await world.client.readOutput(id, 'last')).output).toContain('after')
  }
  expect(world.accepted(ids[0]).filter((text) => text.includes('reply before'))).toHaveLength(1)
  expect((await world.client.getTerminal(ids[0])).metadata).toEqual({ kept: true })
}

/** What `cao` started goes on as a child of the test. */
async function takeOver(): Promise<void> {
  expect(await world.run('cao', ['server', 'stop'])).toMatchObject({ code: 0 })
  await world.startServer()
}

test('a damaged database stops the start with what to do; the repair keeps it, and takes in the agents that run', async () => {
  const { dbFile } = world.world.layout
  await world.endServer('SIGTERM')
  for (const name of readdirSync(dirname(dbFile))) if (name !== 'cao.db') rmSync(join(dirname(dbFile), name))
  const garbage = 'nothing that SQLite could read. '.repeat(300)
  writeFileSync(dbFile, garbage)
  for (const command of ['ls', 'doctor']) {
    const ran = await world.run('cao', [command])
    expect({ command, code: ran.code }).toEqual({ command, code: 65 })
    expect(ran.out + ran.err).toContain('"cao doctor --repair-store" puts it aside')
  }
  expect(readFileSync(dbFile, 'utf8')).toBe(garbage)
  const repair = await world.run('cao', ['doctor', '--repair-store'])
  expect(repair).toMatchObject({ code: 0, err: '' })
  expect(repair.out.split('\n').toSorted()).toEqual(
    [
      '',
      `the damaged database is kept: ${dbFile}.broken`,
      'there is no good copy: an empty one stands in its place',
      ...ids.map((id) => `taken in: ${id}`),
    ].toSorted(),
  )
  expect(readFileSync(`${dbFile}.broken`, 'utf8')).toBe(garbage)
  const running = await world.run('cao', ['doctor', '--repair-store'])
  expect(running).toMatchObject({ code: 9, err: expect.stringContaining('a server already runs') })
  const { out } = await world.run('cao', ['ls'])
  expect(out).toContain('cao-loss')
  await takeOver()
  expect((await world.run('cao', ['doctor', '--json'])).out).toMatch(/"leftover panes",\s+"level": "ok"/)
  await checkAgents()
}, 120_000)

test('what waits in an older copy is not typed a second time when that copy takes the place of the damaged database', async () => {
  const { dbFile } = world.world.layout
  const folder = dirname(dbFile)
  const copies = () => readdirSync(folder).filter((name) => name.endsWith('.backup'))
  await world.client.sendMessage(ids[0], { message: 'slow 3\nreply first' })
  const queued = await world.client.sendMessage(ids[0], { message: 'reply second' })
  await world.endServer('SIGTERM')
  for (const name of copies()) rmSync(join(folder, name))
  // The copy that this start makes holds the message as one that waits.
  await world.startServer()
  await until('the copy', 15_000, () => (copies().length === 1 ? true : undefined))
  await messageState(world, queued.message_id, 'answered')
  await world.endServer('SIGTERM')
  writeFileSync(dbFile, readFileSync(dbFile).fill(0x5a, 4_096))
  const repair = await world.run('cao', ['doctor', '--repair-store', '--json'])
  expect(JSON.parse(repair.out)).toMatchObject({
    kind: 'restored',
    broken: `${dbFile}.broken`,
    agents: { adopted: [], errors: [] },
  })
  await takeOver()
  const restored = await world.client.getMessage(queued.message_id)
  expect(restored).toMatchObject({
    state: 'undeliverable',
    detail: expect.stringContaining('restored from an older copy'),
  })
  await checkAgents()
  expect(world.accepted(ids[0]).filter((text) => text.includes('reply second'))).toHaveLength(1)
}, 120_000)

test('agents whose database was moved away are named at the start, in the status and by doctor, and can be taken in', async () => {
  const { dbFile } = world.world.layout
  await world.endServer('SIGTERM')
  renameSync(dirname(dbFile), `${dirname(dbFile)}.away`)
  const started = await world.run('cao', ['server', 'start'])
  expect(started).toMatchObject({ code: 0, err: expect.stringContaining('Note: 2 panes without a row') })
  const status = await world.run('cao', ['server', 'status'])
  expect(status.out).toMatch(/unknown .*2 panes without a row \("cao doctor" names them, "cao recover --adopt"/)
  const doctor = await world.run('cao', ['doctor'])
  for (const id of ids) {
    expect(doctor.out).toMatch(
      new RegExp(
        `leftover panes +note +%\\d+ in cao-.* terminal ${id}, of which there is no row: "cao recover --adopt"`,
      ),
    )
  }
  const adopted = await world.run('cao', ['recover', '--adopt', '--json'])
  const outcome = JSON.parse(adopted.out) as {
    readonly adopted: readonly string[]
    readonly errors: readonly unknown[]
  }
  expect({ adopted: outcome.adopted.toSorted(), errors: outcome.errors }).toEqual({
    adopted: ids.toSorted(),
    errors: [],
  })
  expect((await world.run('cao', ['recover', '--adopt'])).out).toBe('every agent that runs is known\n')
  await takeOver()
  await checkAgents()
}, 120_000)

test('an agent of which no record is left is named and left alone', async () => {
  const { dbFile, terminalsDir } = world.world.layout
  await world.endServer('SIGTERM')
  renameSync(dirname(dbFile), `${dirname(dbFile)}.away`)
  rmSync(join(terminalsDir, ids[1], 'terminal.json'))
  await world.startServer()
  const ran = await world.run('cao', ['recover', '--adopt'])
  expect(ran.code).toBe(10)
  expect(ran.out.split('\n')).toEqual([
    `taken in: ${ids[0]}`,
    expect.stringMatching(`^not taken in: ${ids[1]}: pane %\\d+ in cao-\\w+: no record says what it was$`),
    '',
  ])
  expect(world.tmux('list-panes', '-a', '-F', '#{@cao_terminal_id}')).toContain(ids[1])
}, 120_000)
