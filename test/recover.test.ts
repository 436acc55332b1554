/** Lost and exited agents come back: same terminal, same conversation, queue delivered. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TestWorld, until } from './world.case.ts'

let world: TestWorld
beforeAll(async () => {
  world = await TestWorld.open()
  await world.startServer()
}, 60_000)
afterAll(() => world[Symbol.asyncDispose](), 60_000)

const life = async (id: string) => (await world.client.getTerminal(id)).life

test('tmux dies: one event, all its terminals are lost at once with the reason, their queues are kept; recover brings them back', async () => {
  const { client } = world
  const agents = [await world.agent({ session: 'a' }), await world.agent({ session: 'b' })]
  const [first = '', second = ''] = agents
  await client.sendInput(first, { message: 'reply remembered' })
  await client.sendInput(second, { message: 'slow 60' })
  await world.waitForStatus(second, 'processing')
  await client.sendMessage(second, { message: 'say after the recovery\nreply yes', sender_id: 'user' })
  const pid = Number(world.tmux('display-message', '-p', '#{pid}'))
  process.kill(pid, 'SIGKILL')
  await until('both to be lost', 10_000, async () =>
    (await life(first)) === 'lost' && (await life(second)) === 'lost' ? true : undefined,
  )
  const terminal = await client.getTerminal(first)
  expect(terminal).toMatchObject({ status: 'error', status_reason: 'lost' })
  const { events } = await client.listEvents({ limit: 500 })
  expect(events.filter((event) => event.type === 'backend.lost')).toMatchObject([{ terminal_count: 2 }])

  const ran = await world.run('cao', ['recover'])
  expect(ran).toMatchObject({ code: 0, err: '' })
  expect(await life(first)).toBe('live')
  await until('the kept message to arrive', 15_000, () =>
    world.accepted(second).some((text) => text.includes('after the recovery')) ? true : undefined,
  )
  const sessions = world
    .transcript(first)
    .filter((line) => line['type'] === 'session')
    .map((line) => line['sessionId'])
  expect([...new Set(sessions)]).toEqual([expect.stringMatching(/^scripted-/)])
  expect(world.accepted(first)).toEqual(['reply remembered'])
  expect(world.tmux('capture-pane', '-p', '-t', `=cao-a:`)).toContain('remembered')
}, 90_000)

test('an agent that exited comes back when it is named, and runs only once however many ask', async () => {
  const { client } = world
  const agent = await world.agent()
  await client.sendInput(agent, { message: 'crash 3' })
  await until('the exit', 10_000, async () => ((await life(agent)) === 'exited' ? true : undefined))
  expect(await client.getTerminal(agent)).toMatchObject({ status: 'error', status_reason: 'exited', exit_code: 3 })
  const results = await Promise.allSettled([1, 2, 3].map(() => client.recoverTerminal(agent, {})))
  expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
  await client.sendInput(agent, { message: 'reply back' })
  expect(world.accepted(agent)).toEqual(['crash 3', 'reply back'])
}, 60_000)

test('what can not be recovered says why and keeps its reference', async () => {
  const { client } = world
  const agent = await world.agent()
  await expect(client.recoverTerminal(agent, {})).rejects.toMatchObject({ code: 'CONFLICT' })
  const { id } = await client.createSession({
    agent_profile: 'developer',
    provider: 'scripted',
    working_directory: world.world.projectDir,
    env_vars: { MY_KEY: 'secret' },
  })
  await client.sendInput(id, { message: 'crash 1' })
  await until('the exit', 10_000, async () => ((await life(id)) === 'exited' ? true : undefined))
  await expect(client.recoverTerminal(id, {})).rejects.toMatchObject({
    code: 'ENV_MISSING',
    data: { names: ['MY_KEY'] },
  })
  expect(await life(id)).toBe('exited')
  await client.recoverTerminal(id, { env_vars: { MY_KEY: 'again' } })
  expect(await life(id)).toBe('live')
}, 60_000)

test('with CAO_RECOVER=auto lost agents come back without being asked', async () => {
  await using own = await TestWorld.open({ CAO_RECOVER: 'auto' })
  await own.startServer()
  const agent = await own.agent()
  await own.client.sendInput(agent, { message: 'reply kept' })
  process.kill(Number(own.tmux('display-message', '-p', '#{pid}')), 'SIGKILL')
  await until('the agent to be lost and back', 15_000, async () => {
    const { events } = await own.client.listEvents({ limit: 500 })
    const lives = events.flatMap((event) => (event.type === 'terminal.life_changed' ? [event['to']] : []))
    return lives.join(' ').endsWith('lost planned live') ? true : undefined
  })
  await own.waitForStatus(agent, 'idle')
  await own.client.sendInput(agent, { message: 'reply again' })
  expect(own.accepted(agent)).toEqual(['reply kept', 'reply again'])
}, 90_000)
