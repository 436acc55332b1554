/** Faults that users of other orchestrators reported, tried on ours: the entries of docs/bug-cases.md without a test elsewhere. */
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agentPid, logLength, Person, paneField, paneOf, processStart, tmuxPid, untilEnded } from './incident.case.ts'
import { pause } from './restart.case.ts'
import { TestWorld, until } from './world.case.ts'

let world: TestWorld
beforeAll(async () => {
  world = await TestWorld.open()
  await world.startServer()
}, 60_000)
afterAll(() => world[Symbol.asyncDispose](), 60_000)

const developer = { agent_profile: 'developer', provider: 'scripted' } as const
const start = (session_name?: string) =>
  world.client.createSession({
    ...developer,
    working_directory: world.world.projectDir,
    ...(session_name === undefined ? {} : { session_name }),
  })
const lifeOf = async (id: string) => (await world.client.getTerminal(id)).life
const refused = (name: string) => expect(start(name)).rejects.toMatchObject({ code: 'BAD_REQUEST' })

describe('names', () => {
  test('NM-01: a name that tmux would rewrite is refused, so no two names are one session', async () => {
    for (const name of ['my.repo', 'a.b', 'a:b', 'a b', '=a', '$1', '@1', '%1']) await refused(name)
    expect(await world.client.listSessions()).toEqual([])
  })

  test('NM-04, NM-12: bare numbers, and a window that has the name of another session, are not mixed up', async () => {
    const first = await start('0')
    const other = await start('api')
    const more = await world.client.createTerminal('cao-0', developer)
    expect([first.id, more.id].map((id) => paneField(world, id, '#{session_name}'))).toEqual(['cao-0', 'cao-0'])
    world.tmux('rename-window', '-t', paneOf(world, first.id), 'cao-api')
    world.tmux('rename-window', '-t', paneOf(world, more.id), '0')
    await world.client.deleteSession('cao-api')
    expect(await Promise.all([first.id, more.id].map(lifeOf))).toEqual(['live', 'live'])
    await expect(world.client.getTerminal(other.id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await world.client.deleteSession('cao-0')
  }, 60_000)

  test('NM-06: a program that renames its own window, and a person who does, change nothing', async () => {
    const { id } = await start()
    await world.client.sendInput(id, { message: `tool printf '\\033kHACKED\\033\\\\' >/dev/tty` })
    await world.waitForStatus(id, 'waiting_user_answer')
    await world.client.pressKey(id, 'Enter')
    await world.waitForStatus(id, 'completed')
    expect(paneField(world, id, '#{window_name}')).not.toContain('HACKED')
    world.tmux('rename-window', '-t', paneOf(world, id), 'by hand')
    await world.client.sendInput(id, { message: 'reply still here' })
    await world.client.deleteTerminal(id)
  }, 60_000)

  test('NM-09, NM-10: unnamed sessions at once are distinct; a create that fails types nothing and removes nothing', async () => {
    const made = await Promise.all(Array.from({ length: 12 }, () => start()))
    expect(new Set(made.map(({ session_name }) => session_name)).size).toBe(12)
    const [kept] = made
    // What it paints at its start is over when nothing has been added for a while.
    let before = -1
    while (before !== logLength(world, kept?.id ?? '')) {
      before = logLength(world, kept?.id ?? '')
      await pause(1_500)
    }
    await expect(start(kept?.session_name.replace(/^cao-/, ''))).rejects.toMatchObject({ code: 'NAME_TAKEN' })
    const nowhere = { ...developer, working_directory: '/no/such/directory' }
    await expect(world.client.createTerminal(kept?.session_name ?? '', nowhere)).rejects.toMatchObject({
      code: 'DIRECTORY_MISSING',
    })
    await pause(200)
    expect(await lifeOf(kept?.id ?? '')).toBe('live')
    expect(logLength(world, kept?.id ?? '')).toBe(before)
    expect(world.accepted(kept?.id ?? '')).toEqual([])
    await Promise.all(made.map(({ session_name }) => world.client.deleteSession(session_name)))
  }, 90_000)
})

describe('sizes', () => {
  test('RZ-02, RZ-03, RZ-07: viewers of 88x71, 189x62 and 40x20 during a turn: no resize, each sees the prompt, the answer is whole', async () => {
    const { id } = await start('viewers')
    const long = 'x'.repeat(120)
    await world.client.sendMessage(id, { message: `slow 1\nreply ${long}`, sender_id: 'user' })
    for (const size of [
      { cols: 189, rows: 62 },
      { cols: 88, rows: 71 },
      { cols: 40, rows: 20 },
    ]) {
      using viewer = new Person(world, 'cao-viewers', size)
      await viewer.sees('❯')
    }
    await until('the answer', 15_000, async () =>
      (await world.client.readOutput(id, 'last')).output.includes(long) ? true : undefined,
    )
    expect(paneField(world, id, '#{pane_width}x#{pane_height}')).toBe('200x50')
    await world.client.deleteSession('cao-viewers')
  }, 60_000)
})

describe('leaks', () => {
  test('LK-03, LK-06: event readers that are cut off in their first bytes leave no descriptor', async () => {
    const pid = world.server?.pid ?? 0
    const open = () => readdirSync(`/proc/${pid}/fd`).length
    await world.client.health()
    const before = open()
    for (let round = 0; round < 50; round++) {
      await new Promise<void>((resolve) => {
        const socket = connect(join(world.world.layout.runDir, 'server.sock'))
        socket.once('error', () => resolve())
        socket.once('close', () => resolve())
        socket.once('data', () => socket.destroy())
        socket.write('GET /events HTTP/1.1\r\nHost: cao\r\n\r\n')
      })
    }
    await until('the descriptors to be closed', 10_000, () => (open() <= before + 2 ? true : undefined))
    expect(await world.client.health()).toMatchObject({ status: 'ok' })
  }, 60_000)
})

describe('ends', () => {
  test('SD-04, SD-06: the first session goes and all others stay; SIGTERM with readers and a handoff ends us in time, agents go on', async () => {
    const [first, second] = [await start('first'), await start('second')]
    await world.client.deleteSession(first.session_name)
    expect(await lifeOf(second.id)).toBe('live')
    const readers = Array.from({ length: 3 }, () => connect(join(world.world.layout.runDir, 'server.sock')))
    for (const reader of readers) {
      reader.on('error', () => undefined)
      reader.write('GET /events HTTP/1.1\r\nHost: cao\r\n\r\n')
    }
    const handoff = world.client
      .startJob({ kind: 'handoff', ...developer, message: 'wait 60000', timeout: 120 })
      .then(({ id }) => world.client.getJob(id, 60))
      .catch(() => undefined)
    await pause(500)
    const pid = world.server?.pid ?? 0
    await world.endServer('SIGTERM')
    expect(processStart(pid)).toBeUndefined()
    await handoff
    expect(processStart(agentPid(world, second.id) ?? 0)).toBeDefined()
    await world.startServer()
    expect(await lifeOf(second.id)).toBe('live')
    for (const { name } of await world.client.listSessions()) await world.client.deleteSession(name)
    expect(await world.client.listTerminals()).toEqual([])
  }, 60_000)

  test('TS-02, TS-05: the tmux server dies under five agents and a job: told as one event, the job fails, what is gone can be deleted', async () => {
    const agents = await Promise.all(Array.from({ length: 5 }, () => start()))
    const job = await world.client.startJob({ kind: 'handoff', ...developer, message: 'wait 60000', timeout: 120 })
    await until('the job to run', 15_000, async () =>
      (await world.client.getJob(job.id)).state === 'running' ? true : undefined,
    )
    const from = (await world.client.listEvents({ limit: 1 })).last_seq
    const pid = tmuxPid(world)
    process.kill(pid, 'SIGKILL')
    await untilEnded(pid)
    const ended = await world.client.getJob(job.id, 10)
    expect(ended).toMatchObject({ is_open: false, failure: expect.stringContaining('lost') })
    for (const { id } of agents) {
      await until(`${id} to be lost`, 10_000, async () => ((await lifeOf(id)) === 'lost' ? true : undefined))
    }
    const { events } = await world.client.listEvents({ after: from, limit: 500 })
    expect(events.filter((event) => event.type === 'backend.lost')).toMatchObject([{ terminal_count: 6 }])
    for (const { session_name } of agents) {
      await world.client.deleteSession(session_name)
      await expect(world.client.deleteSession(session_name)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    }
  }, 60_000)
})
