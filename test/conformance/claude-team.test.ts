/**
 * A team on the whole CAO whose supervisor is the real Claude Code, with the built programs as processes: what it delegates
 * over MCP comes back to it, once, whatever happens meanwhile. Its workers are scripted agents, and a real OpenCode.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { ModelRequest } from '../../src/agents/scripted-model/conversation.ts'
import type { ScriptedModel } from '../../src/agents/scripted-model/server.ts'
import type { TerminalBody } from '../../src/protocol/terminal.ts'
import { TestWorld, until } from '../world.case.ts'
import { claudeEnv, furnishHome, installLimitMs, openModel, requireClaude } from './claude-program.case.ts'
import { compareHome, findOurTraces, type HomeTree, readHome } from './home-diff.case.ts'
import { furnishOpencode, requireOpencode } from './opencode-program.case.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: installLimitMs })
const stepLimitMs = 90_000
let world: TestWorld
let model: ScriptedModel
let home: string
let before: HomeTree
let boss: TerminalBody
const asked: ModelRequest[] = []

beforeAll(async () => {
  const programs = [await requireClaude(), await requireOpencode()]
  model = await openModel((request) => asked.push(request))
  world = await TestWorld.open({
    ...claudeEnv(model),
    PATH: [...programs.map((program) => dirname(program)), process.env['PATH'] ?? ''].join(delimiter),
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  })
  home = world.world.env['HOME'] ?? ''
  furnishHome(home)
  furnishOpencode(home, model.port)
  before = readHome(home)
  writeProfile('counter', 'provider: scripted\nrole: developer')
  writeProfile('opener', 'provider: opencode_cli\nrole: developer\npermissionMode: ask')
  writeProfile('leader', 'provider: claude_code\nrole: supervisor\npermissionMode: ask')
  await world.startServer()
  boss = await startLeader('team')
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await model[Symbol.asyncDispose]()
})

function writeProfile(name: string, fields: string): void {
  const dir = world.world.layout.agentStoreDir
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const text = `---\nname: ${name}\ndescription: for this test\n${fields}\n---\nYou are ${name}.\n`
  writeFileSync(join(dir, `${name}.md`), text, { mode: 0o600 })
}

const startLeader = (session: string) =>
  world.client.createSession({
    agent_profile: 'leader',
    session_name: session,
    working_directory: world.world.projectDir,
  })

/** What others than its person told the leader. */
async function listTold(): Promise<readonly string[]> {
  const messages = await world.client.listMessages(boss.id, { limit: 100 })
  return messages.filter((message) => message.sender_id !== 'user').map((message) => message.message)
}

async function waitForAnswer(text: string): Promise<void> {
  await until(`the leader to say "${text}"`, stepLimitMs, async () => {
    const { output } = await world.client.readOutput(boss.id, 'last')
    return output.includes(text) ? true : undefined
  })
}

const tell = (...lines: readonly string[]) =>
  world.client.sendInput(boss.id, { message: lines.join('\n'), sender_id: 'user' })
const delegate = (tool: 'assign' | 'handoff', message: string) =>
  `call ${tool} ${JSON.stringify({ agent_profile: 'counter', message })}`

test("starts with its profile's prompt and CAO's tools, and says what it may do", async () => {
  expect(boss).toMatchObject({ provider: 'claude_code', status: 'idle' })
  await tell('reply ready to lead')
  await waitForAnswer('ready to lead')
  const request = asked.findLast(({ tools }) => tools.length > 0)
  expect(request?.systemPrompt).toContain('You are leader.')
  const names = request?.tools.map(({ name }) => name) ?? []
  expect(names).toEqual(expect.arrayContaining(['mcp__cao-mcp-server__assign', 'mcp__cao-mcp-server__handoff']))
  // A supervisor has no shell, and nobody who could run one for it.
  expect(names.filter((name) => ['Bash', 'Agent', 'Task', 'Write', 'Edit'].includes(name))).toEqual([])
})

test('hands a task over and goes on with its answer in the same turn', async () => {
  await tell(delegate('handoff', 'wait 500\nreply Part B has 80 lines.'), 'reply The worker said: {output}')
  await waitForAnswer('The worker said: Part B has 80 lines.')
})

/** What a worker said has reached the leader's model as a message, and was sent once. */
async function expectResult(worker: string, answer: string): Promise<void> {
  const isResult = (text: string) => text.includes(`Result from ${worker}`) && text.includes(answer)
  await until('the result to reach the model', stepLimitMs, () =>
    asked.some(({ items }) => items.some((item) => item.kind === 'user' && isResult(item.text))) ? true : undefined,
  )
  expect((await listTold()).filter(isResult)).toHaveLength(1)
  await world.waitForStatus(boss.id, 'completed', stepLimitMs)
}

test('assigns a task, and gets the answer as a message, once, though the server was killed meanwhile', async () => {
  await tell('say I delegate.', delegate('assign', 'wait 4000\nreply Part A has 120 lines.'), 'reply I wait.')
  await world.waitForStatus(boss.id, 'completed', stepLimitMs)
  await world.endServer('SIGKILL')
  await world.startServer()
  await expectResult('counter', 'Part A has 120 lines.')
})

test('a real OpenCode works for it, asks for permission, and reports while the server is down', async () => {
  const message = 'tool touch by-worker && sleep 4\nreply Part C has 7 lines.'
  const assign = `call assign ${JSON.stringify({ agent_profile: 'opener', message })}`
  await tell(assign, 'reply I wait.')
  const question = await until("the worker's question", stepLimitMs, async () =>
    (await world.client.listQuestions()).find(({ reason }) => reason === 'permission'),
  )
  expect(question.text).toContain('touch by-worker')
  await until('the leader to be told of it', stepLimitMs, async () =>
    (await listTold()).some((message) => message.includes(question.id)) ? true : undefined,
  )
  await world.client.answerQuestion(question.terminal_id, { answer: 'yes', question_id: question.id })
  await world.endServer('SIGKILL')
  // The worker goes on and ends its turn with nobody there.
  await new Promise((resolve) => setTimeout(resolve, 7_000))
  await world.startServer()
  await expectResult('opener', 'Part C has 7 lines.')
})

test('asks its person for permission, who allows it', async () => {
  const { id } = await world.client.createSession({
    agent_profile: 'leader',
    allowed_tools: ['*'],
    session_name: 'asks',
    working_directory: world.world.projectDir,
  })
  await world.client.sendInput(id, { message: 'tool touch by-hand\nreply made' })
  const question = await until('the question', stepLimitMs, async () => (await world.client.listQuestions(id))[0])
  expect(question.text).toContain('touch by-hand')
  await world.client.answerQuestion(id, { answer: 'Yes', question_id: question.id })
  await world.waitForStatus(id, 'completed', stepLimitMs)
  expect((await world.client.readOutput(id, 'last')).output).toBe('made')
  await world.client.deleteTerminal(id)
})

test('comes back with its conversation when tmux was killed, and so does its worker', async () => {
  process.kill(Number(world.tmux('display-message', '-p', '#{pid}')), 'SIGKILL')
  await until('the leader to be lost', stepLimitMs, async () =>
    (await world.client.getTerminal(boss.id)).life === 'lost' ? true : undefined,
  )
  await world.client.recoverTerminal(boss.id, {})
  expect(world.tmux('capture-pane', '-p', '-t', '=cao-team:')).toContain('Part C has 7 lines.')
  await tell('reply still here')
  await waitForAnswer('still here')

  const opener = (await world.client.listTerminals('cao-team')).find((each) => each.agent_profile === 'opener')
  expect(opener).toMatchObject({ provider: 'opencode_cli', life: 'lost' })
  const id = opener?.id ?? ''
  await world.client.recoverTerminal(id, {})
  await world.client.sendInput(id, { message: 'reply opened again', sender_id: 'user' })
  await until('the worker to go on', stepLimitMs, async () =>
    (await world.client.readOutput(id, 'last').catch(() => undefined))?.output.trim() === 'opened again'
      ? true
      : undefined,
  )
  const request = asked.findLast(({ items }) =>
    items.some((item) => item.kind === 'user' && item.text.includes('opened again')),
  )
  const said = request?.items.flatMap((item) => ('text' in item ? [item.text] : [])).join('\n')
  expect(said).toContain('Part C has 7 lines.')
})

test("has left the person's settings as they were, and nothing in their home that is not the program's own", () => {
  const after = readHome(home)
  expect(compareHome(before, after, ['claude_code', 'opencode_cli'])).toEqual({ changed: [], foreign: [] })
  expect(findOurTraces(after, 'claude_code')).toEqual([])
})
