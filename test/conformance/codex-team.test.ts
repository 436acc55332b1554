/**
 * A team of real Codexes on the whole CAO, with the built programs as processes: two panes at once each act as themselves
 * over MCP, though Codex likes to share one daemon; a worker's permission is asked for; the limits of a profile hold.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { ModelRequest } from '../../src/agents/scripted-model/conversation.ts'
import type { ScriptedModel } from '../../src/agents/scripted-model/server.ts'
import type { TerminalBody } from '../../src/protocol/terminal.ts'
import { TestWorld, until } from '../world.case.ts'
import { furnishHome, installLimitMs, openModel, requireCodex } from './codex-program.case.ts'
import { compareHome, type HomeTree, readHome } from './home-diff.case.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: installLimitMs })
const stepLimitMs = 90_000
let world: TestWorld
let model: ScriptedModel
let home: string
let settings: { readonly path: string; readonly text: string }
let before: HomeTree
const asked: ModelRequest[] = []

beforeAll(async () => {
  const program = await requireCodex()
  model = await openModel((request) => asked.push(request))
  world = await TestWorld.open({
    PATH: [dirname(program), process.env['PATH'] ?? ''].join(delimiter),
    OPENAI_API_KEY: 'none',
  })
  home = world.world.env['HOME'] ?? ''
  settings = furnishHome(home, model)
  before = readHome(home)
  writeProfile('leader', 'role: supervisor\npermissionMode: ask')
  writeProfile('helper', 'role: developer\npermissionMode: ask')
  await world.startServer()
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await model[Symbol.asyncDispose]()
})

function writeProfile(name: string, fields: string): void {
  const dir = world.world.layout.agentStoreDir
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const text = `---\nname: ${name}\ndescription: for this test\nprovider: codex\n${fields}\n---\nYou are ${name}.\n`
  writeFileSync(join(dir, `${name}.md`), text, { mode: 0o600 })
}

const start = (profile: string, session: string): Promise<TerminalBody> =>
  world.client.createSession({
    agent_profile: profile,
    session_name: session,
    working_directory: world.world.projectDir,
  })
const tell = (id: string, ...lines: readonly string[]) =>
  world.client.sendInput(id, { message: lines.join('\n'), sender_id: 'user' })

function waitForAnswer(id: string, text: string): Promise<string> {
  return until(`"${text}"`, stepLimitMs, async () => {
    const { output } = await world.client.readOutput(id, 'last')
    return output.startsWith(text) ? output : undefined
  })
}

test("two at once start with their profile's prompt and CAO's tools, and each acts as itself", async () => {
  const [one, two] = await Promise.all([start('leader', 'one'), start('leader', 'two')])
  expect([one, two]).toMatchObject([
    { provider: 'codex', status: 'idle' },
    { provider: 'codex', status: 'idle' },
  ])
  // The server knows who calls by the capability that came with the call, and refuses a message to oneself.
  const message = (to: string) => `call send_message ${JSON.stringify({ receiver_id: to, message: 'reply x' })}`
  for (const receivers of [
    [one, two],
    [two, one],
  ] as const) {
    await Promise.all(
      [one, two].map(({ id }, at) => tell(id, message(receivers[at]?.id ?? ''), 'reply It says: {result}')),
    )
    const answers = await Promise.all([waitForAnswer(one.id, 'It says: '), waitForAnswer(two.id, 'It says: ')])
    const toItself = answers.map((answer) => answer.includes('receiver_id is your own terminal'))
    expect(toItself).toEqual(receivers[0] === one ? [true, true] : [false, false])
    // So that the next answer is not taken for this one.
    await Promise.all([one, two].map(({ id }) => tell(id, 'reply on')))
    await Promise.all([waitForAnswer(one.id, 'on'), waitForAnswer(two.id, 'on')])
  }
  const request = asked.find(({ tools }) => tools.some(({ name }) => name.endsWith('__send_message')))
  expect(request?.systemPrompt).toContain('You are leader.')
  await Promise.all([world.client.deleteTerminal(one.id), world.client.deleteTerminal(two.id)])
})

test('a Codex hands a task to another, whose permission is asked of the person, and goes on with its answer', async () => {
  const leader = await start('helper', 'team')
  const escalated = { cmd: 'touch by-worker', sandbox_permissions: 'require_escalated', justification: 'the task' }
  const task = `call exec_command ${JSON.stringify(escalated)}\nreply Part A has 80 lines.`
  await tell(
    leader.id,
    `call handoff ${JSON.stringify({ agent_profile: 'helper', message: task })}`,
    'reply Said: {output}',
  )
  const question = await until("the worker's question", stepLimitMs, async () =>
    (await world.client.listQuestions()).find(({ reason }) => reason === 'permission'),
  )
  expect(question.text).toContain('$ touch by-worker')
  await world.client.answerQuestion(question.terminal_id, { answer: 'yes', question_id: question.id })
  await waitForAnswer(leader.id, 'Said: Part A has 80 lines.')
  expect(existsSync(join(world.world.projectDir, 'by-worker'))).toBe(true)
})

test('who may not run commands can not write by its shell either', async () => {
  const { id } = await start('leader', 'limits')
  await tell(id, 'tool touch never', 'reply It says: {result}')
  await waitForAnswer(id, 'It says: ')
  expect(existsSync(join(world.world.projectDir, 'never'))).toBe(false)
  await world.client.deleteTerminal(id)
})

test('a directory with settings of its own is not trusted by itself: the person is asked', async () => {
  const directory = join(world.world.projectDir, 'brings-settings')
  mkdirSync(join(directory, '.codex'), { recursive: true })
  writeFileSync(join(directory, '.codex', 'config.toml'), 'model_reasoning_effort = "low"\n')
  const starting = world.client.createSession({
    agent_profile: 'helper',
    session_name: 'asks',
    working_directory: directory,
  })
  const question = await until('the question about the folder', stepLimitMs, async () =>
    (await world.client.listQuestions()).find(({ reason }) => reason === 'trust'),
  )
  expect(question.text).toContain('Trust this folder?')
  await world.client.answerQuestion(question.terminal_id, { answer: '1', question_id: question.id })
  await starting
  await world.waitForStatus(question.terminal_id, 'idle', stepLimitMs)
  await world.client.deleteTerminal(question.terminal_id)
})

test('a turn that began before the server was killed, and one that ended meanwhile, are told once each', async () => {
  const { id } = await start('helper', 'restart')
  const messages = ['wait 5000\nreply ended after it', 'wait 1500\nreply ended meanwhile']
  for (const [at, message] of messages.entries()) {
    const sent = await world.client.sendMessage(id, { message })
    await world.waitForStatus(id, 'processing', stepLimitMs)
    await world.endServer('SIGKILL')
    if (at === 1) await new Promise((resolve) => setTimeout(resolve, 3_000))
    await world.startServer()
    await waitForAnswer(id, at === 0 ? 'ended after it' : 'ended meanwhile')
    await world.waitForStatus(id, 'completed', stepLimitMs)
    expect(await world.client.getMessage(sent.message_id)).toMatchObject({ state: 'answered' })
  }
  await world.client.deleteTerminal(id)
})

test('comes back with its conversation when tmux was killed', async () => {
  const { id } = await start('helper', 'comes-back')
  await tell(id, 'reply remember this')
  await waitForAnswer(id, 'remember this')
  process.kill(Number(world.tmux('display-message', '-p', '#{pid}')), 'SIGKILL')
  await until('it to be lost', stepLimitMs, async () =>
    (await world.client.getTerminal(id)).life === 'lost' ? true : undefined,
  )
  await world.client.recoverTerminal(id, {})
  expect(world.tmux('capture-pane', '-p', '-t', '=cao-comes-back:')).toContain('remember this')
  await tell(id, 'reply still here')
  await waitForAnswer(id, 'still here')
})

test("has left the person's settings as they were, but for what Codex itself keeps there", () => {
  const text = readFileSync(settings.path, 'utf8')
  expect(text.startsWith(settings.text.trimEnd())).toBe(true)
  expect(text).not.toMatch(/cao-mcp-server|developer_instructions|terminal_title/)
  // The one directory that a person trusted by an answer.
  expect(text.match(/^\[projects\..*\]$/gm)).toEqual([
    `[projects."${join(world.world.projectDir, 'brings-settings')}"]`,
  ])
  expect(compareHome(before, readHome(home), ['codex'])).toEqual({ changed: [], foreign: [] })
})
