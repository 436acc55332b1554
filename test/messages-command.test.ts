/** `cao messages` and `cao command`, as a person types them, on the whole CAO. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { MessageBody } from '../src/protocol/message.ts'
import { TestWorld, until } from './world.case.ts'

vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 })
let world: TestWorld
beforeAll(async () => {
  world = await TestWorld.open()
  await world.startServer()
})
afterAll(() => world?.[Symbol.asyncDispose]())

const cao = (...words: readonly string[]) => world.run('cao', words)

test('a dead letter is listed, shown with its times, sent again to somebody else and dropped, each once', async () => {
  const busy = await world.agent({ session: 'busy' })
  await world.client.sendInput(busy, { message: 'hang' })
  const send = async (message: string) =>
    (await world.client.sendMessage(busy, { message, sender_id: 'script' })).message_id
  const [late, moot] = [await send('reply late\u001b[31m'), await send('moot')]
  await world.client.deleteTerminal(busy)
  const free = await world.agent({ session: 'free' })

  const listed = await cao('messages', '--dead')
  expect(listed.out.split('\n')[0]).toMatch(/^ *ID {2}TO +FROM +KIND +STATE +SINCE +TEXT$/)
  expect(listed.out).toMatch(new RegExp(`^ *${moot}  ${busy}  script +send_message +undeliverable .* moot$`, 'm'))
  expect(listed.out).not.toContain('\u001b')
  const shown = (await cao('messages', 'show', String(late))).out
  for (const part of [`message ${late} (send_message) from script to ${busy}: undeliverable`, '  | reply late']) {
    expect(shown).toContain(part)
  }
  expect(shown).toMatch(/^ {2}\d\d:\d\d:\d\d\.\d{3} {2}queued$/m)

  const again = await cao('messages', 'resend', String(late), '--to', free, '--json')
  const { message_id } = JSON.parse(again.out) as { message_id: number }
  const taken = await until('the answer', 30_000, async () => {
    const { out } = await cao('messages', 'show', String(message_id), '--json')
    const message = JSON.parse(out) as MessageBody
    return message.state === 'answered' ? message : undefined
  })
  expect(taken).toMatchObject({ resend_of: late, proof: 'hook', turn_outcome: 'answered', sender_id: 'script' })
  expect(await cao('messages', 'drop', String(moot))).toMatchObject({ code: 0, out: `message ${moot} was dropped\n` })
  expect(await cao('messages', 'drop', String(moot))).toMatchObject({ code: 9 })
  expect(await cao('messages', 'resend', String(late), '--to', free)).toMatchObject({ code: 9 })
  expect(JSON.parse((await cao('messages', 'list', '--dead', '--json')).out)).toEqual([])
})

test('what is no message, no state and no command is said so', async () => {
  const codes = [
    await cao('messages', 'show', 'x'),
    await cao('messages', 'show', '999999'),
    await cao('messages', 'list', '--state', 'lost'),
    await cao('messages', 'sing', '1'),
    await cao('messages', '--to', 'nobody'),
  ].map(({ code }) => code)
  expect(codes).toEqual([2, 4, 2, 2, 2])
})

test('a command of the program is typed as it is', async () => {
  const id = await world.agent({ session: 'command' })
  const done = await cao('command', id, '/status now')
  expect([done.code, done.out]).toEqual([0, expect.stringMatching(/^message \d+ confirmed \(/)])
  await until('the command to be there', 30_000, () => (world.accepted(id).includes('/status now') ? true : undefined))
  expect(await cao('command', id, 'status')).toMatchObject({ code: 2 })
})
