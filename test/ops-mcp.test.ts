/**
 * The tools of an agent outside CAO: the official client over stdio, a real server, scripted agents in real panes. Each tool once
 * well and once refused; and without a server a sentence that says what to do.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { eventually, RealServer, waitForQuestion } from './real-server.case.ts'

const program = join(import.meta.dirname, '..', 'src', 'main', 'cao-ops-mcp-server.ts')
vi.setConfig({ testTimeout: 60_000, hookTimeout: 90_000 })
let real: RealServer
let dir: string
let ops: Client
const open: Client[] = []

beforeAll(async () => {
  real = await RealServer.start()
  dir = join(real.home, 'project')
  await mkdir(dir)
  ops = await connect()
})
afterAll(async () => {
  await Promise.all(open.map((client) => client.close()))
  await real[Symbol.asyncDispose]()
})

async function connect(env: Readonly<Record<string, string>> = {}): Promise<Client> {
  const own = { HOME: real.home, CAO_HOME: real.config.layout.home, PATH: process.env['PATH'] ?? '', ...env }
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [program], env: own, cwd: dir, stderr: 'ignore' }),
  )
  open.push(client)
  return client
}

type Said = Readonly<Record<string, unknown>>
async function call(name: string, args: Record<string, unknown> = {}, client = ops): Promise<Said> {
  const result = await client.callTool({ name, arguments: args })
  const [content] = result.content as { type: string; text: string }[]
  expect(JSON.parse(content?.text ?? '')).toEqual(result.structuredContent)
  return result.structuredContent as Said
}

const launch = async (args: Record<string, unknown> = {}): Promise<{ terminal_id: string; session_name: string }> => {
  const said = await call('launch_session', { agent_profile: 'developer', provider: 'scripted', ...args })
  expect(said).toMatchObject({ success: true })
  return said as unknown as { terminal_id: string; session_name: string }
}
const untilCompleted = (terminal_id: string) =>
  eventually('the end of the turn', async () => {
    const { status } = await call('get_terminal_status', { terminal_id })
    return status === 'completed' ? true : undefined
  })

test('the tools have the names and arguments that are known, and say when to use which', async () => {
  const { tools } = await ops.listTools()
  const shapes = tools.map(({ name, inputSchema }) => {
    const required = new Set(inputSchema.required)
    const names = Object.keys(inputSchema.properties ?? {})
    return [name, names.filter((key) => required.has(key)), names.filter((key) => !required.has(key))]
  })
  const launching = ['provider', 'session_name', 'working_directory', 'allowed_tools', 'model', 'initial_message']
  expect(shapes).toEqual([
    ['list_profiles', [], []],
    ['get_profile_details', ['name'], []],
    ['install_profile', ['source'], ['provider', 'env_vars']],
    ['launch_session', ['agent_profile'], launching],
    ['send_session_message', ['terminal_id', 'message'], []],
    ['get_terminal_status', ['terminal_id'], []],
    ['get_terminal_output', ['terminal_id'], ['mode']],
    ['read_session_output', [], ['terminal_id', 'session_name', 'mode', 'max_chars']],
    ['list_sessions', [], []],
    ['get_session_info', ['session_name'], []],
    ['shutdown_session', ['session_name'], []],
    ['answer_user_prompt', ['terminal_id', 'answer'], ['question_id']],
  ])
  for (const { description } of tools) expect(description?.length).toBeGreaterThan(80)
  expect(ops.getInstructions()).toMatch(/launch_session.*shutdown_session/)
})

test('a session from its launch to its end: task, status, answer, a second task, shutdown', async () => {
  const { terminal_id, session_name } = await launch({ session_name: 'ops-a', initial_message: 'reply forty-two' })
  expect(session_name).toBe('cao-ops-a')
  await untilCompleted(terminal_id)
  expect(await call('get_terminal_output', { terminal_id })).toMatchObject({
    success: true,
    output: 'forty-two',
    mode: 'last',
    truncated: false,
  })
  expect(await call('get_session_info', { session_name })).toMatchObject({
    success: true,
    session: { name: session_name, working_directory: dir },
    terminals: [{ id: terminal_id, agent_profile: 'developer', provider: 'scripted' }],
  })
  expect((await call('list_sessions'))['sessions']).toMatchObject([{ name: session_name, status: 'active' }])
  const sent = await call('send_session_message', { terminal_id, message: 'reply again' })
  expect(sent).toMatchObject({ success: true, sender_id: 'cao-ops-mcp', receiver_id: terminal_id })
  await eventually('the second answer', async () => {
    const { output } = await call('get_terminal_output', { terminal_id })
    return output === 'again' ? true : undefined
  })
  expect(await call('shutdown_session', { session_name })).toMatchObject({
    success: true,
    session_name,
    deleted: expect.arrayContaining([terminal_id]) as unknown,
  })
  expect(await call('list_sessions')).toMatchObject({ success: true, sessions: [] })
})

test('a question of an agent is seen with its id, and answered', async () => {
  const { terminal_id, session_name } = await launch()
  await call('send_session_message', { terminal_id, message: 'ask Colour? | red | blue' })
  const { id } = await waitForQuestion(real, terminal_id)
  expect(await call('get_terminal_status', { terminal_id })).toMatchObject({
    success: true,
    status: 'waiting_user_answer',
    questions: [{ id, options: expect.arrayContaining(['red', 'blue']) as unknown }],
  })
  expect(await call('answer_user_prompt', { terminal_id, answer: 'blue', question_id: id })).toMatchObject({
    success: true,
    question_id: id,
  })
  await untilCompleted(terminal_id)
  expect(await call('answer_user_prompt', { terminal_id, answer: 'blue' })).toMatchObject({ success: false })
  await call('shutdown_session', { session_name })
})

test('of a long output the end is given, as much as was asked for', async () => {
  const { terminal_id, session_name } = await launch()
  const answer = `${'x'.repeat(25_000)} the end`
  await real.client.sendInput(terminal_id, { message: `reply ${answer}` })
  await untilCompleted(terminal_id)
  expect(await call('get_terminal_output', { terminal_id })).toMatchObject({
    output: answer.slice(-20_000),
    total_chars: answer.length,
    truncated: true,
  })
  const last = { mode: 'last', max_chars: 7 }
  expect(await call('read_session_output', { session_name, ...last })).toMatchObject({ output: 'the end', terminal_id })
  expect(await call('read_session_output', { terminal_id, ...last })).toMatchObject({ output: 'the end' })
  expect(await call('read_session_output', { terminal_id })).toMatchObject({ success: true, mode: 'full' })
  await call('shutdown_session', { session_name })
})

test('profiles are listed, shown without the values of variables, and installed by name', async () => {
  const { agentStoreDir } = real.config.layout
  await mkdir(agentStoreDir, { recursive: true })
  const server = 'mcpServers:\n  docs: { command: docs, env: { KEY: "hunter2" } }\n'
  await writeFile(join(agentStoreDir, 'mine.md'), `---\nname: mine\ndescription: my own\n${server}---\nMy prompt.\n`)
  const listed = await call('list_profiles')
  expect((listed['profiles'] as Said[]).map(({ name }) => name)).toEqual(
    expect.arrayContaining(['code_supervisor', 'developer', 'mine', 'reviewer']),
  )
  const shown = await call('get_profile_details', { name: 'mine' })
  expect(shown).toMatchObject({ success: true, profile: { name: 'mine', system_prompt: 'My prompt.' } })
  expect(JSON.stringify(shown)).not.toContain('hunter2')
  const installed = await call('install_profile', { source: 'developer', env_vars: { DEPLOY_KEY: 'hunter3' } })
  expect(installed).toMatchObject({ success: true, agent_name: 'developer' })
  expect(JSON.stringify(installed)).not.toContain('hunter3')
  expect(await readFile(real.config.layout.envFile, 'utf8')).toContain('hunter3')
})

describe('what can not be done is said in words', () => {
  test.each([
    ['get_profile_details', { name: 'nobody' }, 'NOT_FOUND'],
    ['install_profile', { source: 'nobody' }, ''],
    ['install_profile', { source: 'http://169.254.169.254/x.md' }, ''],
    ['launch_session', { agent_profile: 'nobody' }, 'PROFILE_UNKNOWN'],
    ['launch_session', { agent_profile: 'developer', provider: 'nobody' }, 'PROVIDER_UNKNOWN'],
    [
      'launch_session',
      { agent_profile: 'developer', provider: 'scripted', working_directory: 'no/such' },
      'DIRECTORY_MISSING',
    ],
    ['send_session_message', { terminal_id: 'ffffffff', message: 'x' }, 'NOT_FOUND'],
    ['get_terminal_status', { terminal_id: 'ffffffff' }, 'NOT_FOUND'],
    ['get_terminal_output', { terminal_id: 'ffffffff' }, 'NOT_FOUND'],
    ['read_session_output', {}, 'BAD_REQUEST'],
    ['read_session_output', { terminal_id: 'ffffffff', session_name: 'x' }, 'BAD_REQUEST'],
    ['read_session_output', { session_name: 'cao-nobody' }, 'NOT_FOUND'],
    ['get_session_info', { session_name: 'cao-nobody' }, 'NOT_FOUND'],
    ['shutdown_session', { session_name: 'cao-nobody' }, 'NOT_FOUND'],
    ['shutdown_session', { session_name: 'a/../b' }, 'BAD_REQUEST'],
    ['answer_user_prompt', { terminal_id: 'ffffffff', answer: 'x' }, 'NOT_FOUND'],
  ])('%s %j', async (name, args, code) => {
    const said = await call(name, args)
    expect(said).toMatchObject({ success: false, error: expect.any(String) as unknown })
    if (code !== '') expect(said['code']).toBe(code)
  })

  test.each([
    ['get_terminal_status', { terminal_id: '../etc' }],
    ['get_terminal_output', { terminal_id: 'aaaaaaaa', mode: 'raw' }],
    ['read_session_output', { terminal_id: 'aaaaaaaa', max_chars: 10_000_000 }],
    ['launch_session', { agent_profile: 'developer', allowed_tools: 'all' }],
    ['install_profile', { source: 'x', env_vars: { A: 1 } }],
    ['send_session_message', { terminal_id: 'aaaaaaaa' }],
    ['no_such_tool', {}],
  ])('%s %j', async (name, args) => {
    const result = await ops.callTool({ name, arguments: args })
    expect(result.isError).toBe(true)
    expect(JSON.stringify(result.content)).toContain(name)
  })
})

test('inside an agent of CAO every tool refuses: an agent is no person, whatever its settings bring along', async () => {
  const inside = await connect({ CAO_TERMINAL_ID: '1a2b3c4d' })
  expect(await call('list_sessions', {}, inside)).toMatchObject({ success: false, code: 'FORBIDDEN' })
})

test('without a server nothing is started and the answer says what to do; when it is back the same child goes on', async () => {
  await real.close()
  for (const name of ['list_sessions', 'list_profiles']) {
    expect(await call(name)).toMatchObject({
      success: false,
      code: 'SERVER_UNREACHABLE',
      message: `no CAO server runs for ${real.config.layout.home}; start one with "cao server start"`,
    })
  }
  await real.open()
  expect(await call('list_sessions')).toMatchObject({ success: true })
})
