/**
 * Texts that would be commands, formats or escape sequences to some part on their way: a folder's name, a group, a message, an agent's own title
 * and answer. None is run, all arrive as they are, and what `cao` prints and logs can not drive a person's terminal.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { TestWorld, until } from './world.case.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 90_000 })

let world: TestWorld
let canary: string
let hostileDir: string
let agent: string

/** Clears the screen, sets the title and the clipboard, ends a paste, in 7 and 8 bits. */
const escapes = '\u001b[2J\u001b]0;owned\u0007\u001b]52;c;b3duZWQ=\u0007\u009b31m\u001b[201~\u009d0;owned\u009c'
// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/

beforeAll(async () => {
  world = await TestWorld.open()
  canary = join(world.world.folder, 'canary')
  // No slash may stand in a folder's name: the commands go by the current directory and by PATH alone.
  hostileDir = join(
    world.world.projectDir,
    `a #(touch canary) #{pane_pid} %if ; touch canary; $(touch canary) 'q' "d" \n \u001b[31m`,
  )
  mkdirSync(hostileDir)
  await world.startServer()
  const made = await world.client.createSession({
    agent_profile: 'developer',
    provider: 'scripted',
    working_directory: hostileDir,
    group: [escapes, `#(touch ${canary})`],
    metadata: { note: escapes },
  })
  agent = made.id
})
afterAll(() => world[Symbol.asyncDispose]())

const madeCanaries = (): readonly string[] => {
  const places = [
    world.world.folder,
    world.world.projectDir,
    hostileDir,
    world.world.layout.home,
    world.world.layout.runDir,
  ]
  return places.filter((dir) => existsSync(join(dir, 'canary')))
}

test('an agent works in a folder whose name is a tmux format, a shell command and an escape sequence', async () => {
  expect((await world.client.getTerminal(agent)).working_directory).toBe(hostileDir)
  await world.client.sendInput(agent, { message: 'tool touch proof', wait_s: 20 })
  const question = await until('the permission question', 20_000, async () => {
    const { open_questions: open } = await world.client.explain(agent)
    return open[0]
  })
  await world.client.answerQuestion(agent, { answer: '1', question_id: question.id })
  await until('the command to have run there', 20_000, () =>
    readdirSync(hostileDir).includes('proof') ? true : undefined,
  )
  expect(madeCanaries()).toEqual([])
})

test('a message of commands and formats arrives as it was written, without what could be a key', async () => {
  await world.waitForStatus(agent, 'completed')
  const text = `reply #(touch ${canary}) \`touch ${canary}\` $(touch ${canary}) %1 #{q} ; kill-server \\; ~.`
  await world.client.sendInput(agent, { message: `${text}${escapes}`, wait_s: 20 })
  await world.waitForStatus(agent, 'completed')
  const typed = world.accepted(agent).at(-1) ?? ''
  expect(typed.startsWith(text)).toBe(true)
  expect(typed).not.toMatch(control)
  expect(madeCanaries()).toEqual([])
})

test('no command of cao prints an escape sequence, whatever an agent or a name says', async () => {
  const calls = [
    ['ls'],
    ['explain', agent],
    ['events'],
    ['audit'],
    ['send', agent, `reply ${escapes}`],
    ['key', agent, escapes],
    ['launch', '--agents', escapes, '--headless'],
    ['shutdown', '--session', escapes],
    ['output', escapes],
  ]
  for (const args of calls) {
    const { out, err } = await world.run('cao', args)
    expect([args[0], control.exec(out + err)?.[0]]).toEqual([args[0], undefined])
  }
})

test('no line of the logs holds a control character', () => {
  const { logsDir } = world.world.layout
  const logs = readdirSync(logsDir).map((name) => readFileSync(join(logsDir, name), 'utf8'))
  expect(logs.length).toBeGreaterThan(1)
  expect(logs.flatMap((text) => text.split('\n')).filter((line) => control.test(line))).toEqual([])
})
