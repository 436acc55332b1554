/** Raw input of every awkward kind arrives byte-exact as ONE submit in the agent's own record. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TestWorld } from './world.case.ts'

let world: TestWorld
let agent = ''
beforeAll(async () => {
  world = await TestWorld.open()
  await world.startServer()
  agent = await world.agent()
}, 60_000)
afterAll(() => world[Symbol.asyncDispose](), 60_000)

const lines40 = Array.from({ length: 40 }, (_, i) => `line ${i} with "quotes" and \\ backslash`).join('\n')
const megabyte = Array.from({ length: 16_384 }, (_, i) => `${String(i).padStart(8, '0')} ${'x'.repeat(54)}`).join('\n')

test.each([
  ['the word Enter', 'Enter'],
  ['the word C-c', 'C-c'],
  ['a leading dash', '-l --help -- x'],
  ['a trailing semicolon', 'echo hi;'],
  ['only a semicolon', ';'],
  ['a trailing backslash', 'ends with \\'],
  ['an escaped semicolon at the end', 'ends with \\;'],
  ['quotes of all kinds', `it's "so" \`called\` 'x'`],
  ['a format with a command', '#(touch x) #{pid} #S'],
  ['variables', '$HOME ${HOME} $(id) ~ %H'],
  ['tabs', 'a\tb\t\tc'],
  ['emoji and CJK', '👩‍👩‍👧 漢字かな交じり文 Ünïcödé 🇩🇪'],
  ['40 lines', lines40],
  ['1 MB', megabyte],
])(
  '%s',
  async (_name, text) => {
    const before = world.accepted(agent).length
    const sent = await world.client.sendInput(agent, { message: text }, { timeoutMs: 60_000 })
    expect(sent).toMatchObject({ success: true })
    expect(world.accepted(agent).slice(before)).toEqual([text])
  },
  90_000,
)

test('escape and the end of a bracket in a body are taken out and do no harm', async () => {
  const before = world.accepted(agent).length
  await world.client.sendInput(agent, { message: 'before \u001b[201~\u001b[A after\r\nnext\u0003' })
  expect(world.accepted(agent).slice(before)).toEqual(['before [201~[A after\nnext'])
})

test('`cao send` types standard input as it is', async () => {
  const before = world.accepted(agent).length
  const ran = await world.run('cao', ['send', agent, '-'], { input: '-first;\nsecond \\\n' })
  expect(ran).toMatchObject({ code: 0, err: '' })
  expect(world.accepted(agent).slice(before)).toEqual(['-first;\nsecond \\\n'])
})

test('text of nothing but control characters is refused with the reason', async () => {
  const sent = await world.client.sendInput(agent, { message: '\u001b\u0003' })
  expect(sent).toMatchObject({
    success: false,
    state: 'refused',
    detail: expect.stringContaining('control characters'),
  })
})
