/** Reports about typing into agents: each on a real server and a real tmux, counted in the agents' own records. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { paneOf } from './restart.case.ts'
import { TestWorld, until } from './world.case.ts'

let world: TestWorld
beforeAll(async () => {
  world = await TestWorld.open()
  await world.startServer()
}, 60_000)
afterAll(() => world[Symbol.asyncDispose](), 60_000)

const takenTimes = (id: string, text: string) => world.accepted(id).filter((one) => one.includes(text)).length
const untilTaken = (id: string, text: string) =>
  until(`"${text}" to be taken`, 40_000, () => (takenTimes(id, text) > 0 ? true : undefined))
const stateOf = async (message: number) => (await world.client.getMessage(message)).state
const start = async (flags: string): Promise<string> => {
  const { id } = await world.client.createSession({
    agent_profile: 'developer',
    provider: 'scripted',
    working_directory: world.world.projectDir,
    env_vars: { SCRIPTED_AGENT_FLAGS: flags },
  })
  return id
}

test('IN-01: an Enter that the program swallows is pressed again, and the text is taken once', async () => {
  const id = await start('--swallow-enters 1')
  const { message_id } = await world.client.sendMessage(id, { message: 'first\nsecond\nreply third' })
  await untilTaken(id, 'reply third')
  await until('its end', 20_000, async () => ((await stateOf(message_id)) === 'answered' ? true : undefined))
  expect(takenTimes(id, 'first\nsecond\nreply third')).toBe(1)
}, 60_000)

test('IN-08: sends to many agents at once do not meet, and no buffer stays', async () => {
  const ids = await Promise.all(Array.from({ length: 6 }, (_, index) => world.agent({ session: `typing-${index}` })))
  const bodyOf = (id: string, round: number) => `for ${id} in round ${round}\n${`${id} `.repeat(550)}\nreply ok`
  for (const round of [1, 2, 3]) {
    await Promise.all(ids.map((id) => world.client.sendMessage(id, { message: bodyOf(id, round) })))
  }
  for (const id of ids) await untilTaken(id, `for ${id} in round 3`)
  for (const id of ids) {
    const bodies = world.accepted(id).map((text) => text.slice(text.indexOf('\n') + 1))
    expect(bodies).toEqual([1, 2, 3].map((round) => bodyOf(id, round)))
  }
  expect(world.tmux('list-buffers')).toBe('')
}, 120_000)

test('IN-10: several lines are refused where each would be a turn of its own, and one line is taken', async () => {
  const id = await start('--no-bracketed-paste')
  const refused = await world.client.sendInput(id, { message: 'one\ntwo\nthree' })
  expect(refused).toMatchObject({ state: 'refused', detail: expect.stringContaining('bracketed paste off') })
  expect(await world.client.sendInput(id, { message: 'reply one line' })).toMatchObject({ success: true })
  expect(world.accepted(id)).toEqual(['reply one line'])
}, 60_000)

test("IN-12: a person's draft holds what comes, is left as it is, and the message goes when it is gone", async () => {
  const id = await world.agent({ session: 'typing-draft' })
  await world.waitForStatus(id, 'idle')
  world.tmux('send-keys', '-t', paneOf(world, id), '-l', 'my draft')
  await until('the draft to be seen', 10_000, async () =>
    (await world.client.readOutput(id, 'screen')).output.includes('my draft') ? true : undefined,
  )
  const { message_id } = await world.client.sendMessage(id, { message: 'reply after it' })
  await until('the hold to be told', 15_000, async () =>
    JSON.stringify(await world.client.explain(id)).includes('somebody has a draft') ? true : undefined,
  )
  expect([world.accepted(id), await stateOf(message_id)]).toEqual([[], 'queued'])
  world.tmux('send-keys', '-t', paneOf(world, id), 'C-u')
  await untilTaken(id, 'reply after it')
  expect(world.accepted(id).some((text) => text.includes('my draft'))).toBe(false)
}, 60_000)

test('IN-13: nothing is typed into a permission prompt, and the message goes when it was answered', async () => {
  const id = await world.agent({ session: 'typing-dialog' })
  await world.client.sendInput(id, { message: 'tool touch never-approved\nreply refused' })
  await world.waitForStatus(id, 'waiting_user_answer')
  const { message_id } = await world.client.sendMessage(id, { message: 'y\nreply later' })
  const [question] = await until('the question', 10_000, async () => {
    const open = await world.client.listQuestions(id)
    return open.length > 0 ? open : undefined
  })
  expect([await stateOf(message_id), takenTimes(id, 'reply later')]).toEqual(['queued', 0])
  await world.client.answerQuestion(id, { answer: 'No', question_id: question?.id ?? '' })
  await untilTaken(id, 'reply later')
  expect(existsSync(join(world.world.projectDir, 'never-approved'))).toBe(false)
}, 60_000)

test.each(['/exit', '!touch made-by-mark', '#remember', '@../etc/passwd', 'run /devices', 'C-c', 'Escape', '--help'])(
  'IN-14: "%s" from another agent is a text below a header, and ends nothing',
  async (text) => {
    const id = await world.agent({ session: `typing-mark-${Buffer.from(text).toString('hex')}` })
    await world.client.sendMessage(id, { message: text, sender_id: 'script' })
    await untilTaken(id, text)
    const [taken = ''] = world.accepted(id)
    expect(taken).toMatch(/^\[cao send_message [0-9a-f]{12} from script\]\n/)
    expect(taken.slice(taken.indexOf('\n') + 1)).toBe(text)
    expect((await world.client.getTerminal(id)).life).toBe('live')
    expect(existsSync(join(world.world.projectDir, 'made-by-mark'))).toBe(false)
    await world.client.deleteTerminal(id)
  },
  60_000,
)

test('IN-16: the first task of an agent that is slow to draw itself is taken once and whole', async () => {
  const id = await start('--startup-ms 3000 --slow-paint 400')
  const task = Array.from({ length: 30 }, (_, index) => `line ${index}`).join('\n')
  await world.client.sendMessage(id, { message: `${task}\nreply done` })
  await untilTaken(id, 'reply done')
  expect(takenTimes(id, `${task}\nreply done`)).toBe(1)
  expect(world.accepted(id)).toHaveLength(1)
}, 60_000)
