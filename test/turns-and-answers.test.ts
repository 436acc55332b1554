/** What a reader is told between a send and its answer, at an agent's end, and in a race: the truth, or that it is not known yet. */
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TestWorld, until } from './world.case.ts'

let world: TestWorld
beforeAll(async () => {
  world = await TestWorld.open()
  await world.startServer()
}, 60_000)
afterAll(() => world[Symbol.asyncDispose](), 60_000)

test('whoever knows that a text has arrived does not read the former turn as its answer', async () => {
  const { client } = world
  const id = await world.agent()
  for (let round = 0; round < 8; round++) {
    await client.sendInput(id, { message: `wait 300\nreply answer ${round}` })
    const { status } = await client.getTerminal(id)
    const { output, is_current } = await client.readOutput(id, 'last').catch(() => ({ output: '', is_current: false }))
    if (status === 'completed') expect(output).toBe(`answer ${round}`)
    else expect([status, is_current && output !== `answer ${round}`]).toEqual(['processing', false])
    await world.waitForStatus(id, 'completed')
    expect(await client.readOutput(id, 'last')).toMatchObject({ output: `answer ${round}`, is_current: true })
  }
}, 60_000)

test('of an ended agent the last answer is kept, whatever it was launched with', async () => {
  const { client } = world
  const launched = await world.run('cao', [
    'launch',
    '--agents',
    'developer',
    '--provider',
    'scripted',
    '--session-name',
    'kept',
    '--headless',
    'reply one',
  ])
  expect(launched.out).toBe('one\n')
  const [agent] = await client.listTerminals('cao-kept')
  const id = agent?.id ?? ''
  await client.sendInput(id, { message: 'reply two' })
  await world.waitForStatus(id, 'completed')
  await client.exitTerminal(id)
  await until('its exit', 15_000, async () => ((await client.getTerminal(id)).life === 'exited' ? true : undefined))
  expect(await client.readOutput(id, 'last')).toMatchObject({ output: 'two', is_current: true })
}, 60_000)

test('of any number that want a session name at once, one gets it', async () => {
  const { client } = world
  const create = () =>
    client.createSession({
      agent_profile: 'developer',
      provider: 'scripted',
      session_name: 'race',
      working_directory: world.world.projectDir,
    })
  const results = await Promise.allSettled(Array.from({ length: 6 }, create))
  const refused = results.filter((result) => result.status === 'rejected')
  expect(refused.map((result) => (result.reason as { code: string }).code)).toEqual(Array(5).fill('NAME_TAKEN'))
  expect((await client.getSession('cao-race')).terminals).toHaveLength(1)
}, 60_000)

test('the fate of a message can be read after its receiver is gone', async () => {
  const { client } = world
  const id = await world.agent()
  await client.sendInput(id, { message: 'slow 60' })
  const { message_id } = await client.sendMessage(id, { message: 'later', sender_id: 'user' })
  await client.deleteTerminal(id)
  expect(await client.getMessage(message_id)).toMatchObject({
    state: 'undeliverable',
    detail: expect.stringContaining('deleted'),
  })
}, 60_000)

test('a supervisor is told of the question of a worker that it went on without', async () => {
  const { client } = world
  const supervisor = await world.agent({ profile: 'code_supervisor' })
  const task = 'ask Which colour? | red | blue\nreply painted'
  await client.sendInput(supervisor, {
    message: `call assign ${JSON.stringify({ agent_profile: 'developer', message: task })}`,
  })
  const told = await until('the question to be told', 20_000, () =>
    world.accepted(supervisor).find((text) => text.includes('Which colour?') && text.includes('[cao notice')),
  )
  expect(told).toMatch(
    /Your worker developer \([0-9a-f]{8}\) waits for an answer \(question, q-[0-9a-f]{8}\):\nWhich colour\?\n1\. red\n2\. blue\n/,
  )
  const [question] = await client.listQuestions()
  await client.answerQuestion(question?.terminal_id ?? '', { answer: 'blue' })
  await until('the result', 20_000, () =>
    world.accepted(supervisor).find((text) => text.includes('painted') && text.includes('[cao callback')),
  )
}, 90_000)

test('launches that are cut off leave neither agent nor file', async () => {
  const { client } = world
  for (const ms of [20, 80, 160, 240, 400]) {
    const cut = AbortSignal.timeout(ms)
    await client
      .createSession(
        { agent_profile: 'developer', provider: 'scripted', working_directory: world.world.projectDir },
        { signal: cut },
      )
      .then(({ session_name }) => client.deleteSession(session_name))
      .catch(() => undefined)
  }
  for (const { id } of await client.listSessions()) await client.deleteSession(id)
  await until('all folders to go', 15_000, () =>
    readdirSync(world.world.layout.terminalsDir).length === 0 ? true : undefined,
  )
  expect(world.serverLog).not.toContain('a request failed unexpectedly')
}, 60_000)

test('a home whose path tmux would read as a format works as any other', async () => {
  const home = join(world.world.folder, 'h#{pid} %Y #[fg=red]')
  mkdirSync(home)
  const env = { CAO_HOME: home }
  const ran = await world.run(
    'cao',
    ['launch', '--agents', 'developer', '--provider', 'scripted', '--headless', 'reply fine'],
    { env },
  )
  await world.run('cao', ['shutdown', '--all'], { env })
  await world.run('cao', ['server', 'stop'], { env })
  expect(ran).toMatchObject({ code: 0, out: 'fine\n' })
  expect(existsSync(join(home, 'run', 'server.json'))).toBe(false)
}, 60_000)
