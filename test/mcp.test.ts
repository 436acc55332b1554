/**
 * The tools of an agent on the whole real CAO: the official client over stdio speaks for a real terminal, workers are
 * scripted agents in real panes. What must hold: the exact answer comes back, once, also when the server restarts meanwhile.
 */
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { TerminalBody } from '../src/protocol/terminal.ts'
import { eventually, RealServer, waitForQuestion } from './real-server.case.ts'

const program = join(import.meta.dirname, '..', 'src', 'main', 'cao-mcp-server.ts')
// A machine that is busy with other suites is slow, not wrong.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 })
let real: RealServer
let boss: TerminalBody
let dir: string
const open: Client[] = []

beforeAll(async () => {
  real = await RealServer.start()
  dir = join(real.home, 'project')
  await mkdir(dir)
  boss = await createBoss()
})
afterAll(async () => {
  await Promise.all(open.map((client) => client.close()))
  await real[Symbol.asyncDispose]()
})

const createBoss = () =>
  real.client.createSession({ agent_profile: 'code_supervisor', provider: 'scripted', working_directory: dir })

/** The tools as the MCP child of `terminal` has them. */
async function connectAs(terminal: TerminalBody): Promise<Client> {
  const { layout } = real.config
  const env = {
    CAO_TERMINAL_ID: terminal.id,
    CAO_CAPABILITY_FILE: join(layout.terminalsDir, terminal.id, 'capability'),
    CAO_SOCKET: real.socketPath,
    CAO_OUTBOX: layout.outboxDir,
  }
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [program], env, stderr: 'ignore' }))
  open.push(client)
  return client
}

type Said = Readonly<Record<string, unknown>> & { readonly success: boolean }
async function call(client: Client, name: string, args: Record<string, unknown>): Promise<Said> {
  const { structuredContent } = await client.callTool({ name, arguments: args })
  return structuredContent as Said
}

const messagesOf = (terminal: TerminalBody) => real.client.listMessages(terminal.id, { limit: 100 })
const task = (message: string) => ({ agent_profile: 'developer', message })

test('handoff gives back the exact answer, from a worker of the same session and directory, which is then closed', async () => {
  const client = await connectAs(boss)
  const asked = call(client, 'handoff', task('wait 1000\nreply forty-two'))
  const worker = await eventually('the worker', async () => {
    const terminals = await real.client.listTerminals(boss.session_name)
    return terminals.find(({ caller_id }) => caller_id === boss.id)
  })
  expect(worker).toMatchObject({ provider: 'scripted', agent_profile: 'developer', working_directory: dir })
  expect(await asked).toEqual({
    success: true,
    message: `developer has answered (terminal ${worker.id})`,
    output: 'forty-two',
    terminal_id: worker.id,
    job_id: expect.stringMatching(/^job-[a-f0-9]{16}$/) as unknown,
  })
  await eventually('the end of the worker', async () =>
    real.client.getTerminal(worker.id).then(
      () => undefined,
      () => true,
    ),
  )
})

test('three handoffs at once run side by side, each with its own answer', async () => {
  const own = await createBoss()
  const client = await connectAs(own)
  const asked = ['a', 'b', 'c'].map((name) => call(client, 'handoff', task(`wait 4000\nreply ${name}`)))
  await eventually('three workers at the same time', async () => {
    const terminals = await real.client.listTerminals(own.session_name)
    return terminals.filter(({ caller_id }) => caller_id === own.id).length === 3 ? true : undefined
  })
  expect((await Promise.all(asked)).map(({ output }) => output)).toEqual(['a', 'b', 'c'])
})

test('a long handoff tells that it is alive, to a client that asks', async () => {
  const client = await connectAs(boss)
  const told: string[] = []
  const onprogress = ({ message, total }: { message?: string | undefined; total?: number | undefined }) =>
    told.push(`${message} of ${total}`)
  await client.callTool({ name: 'handoff', arguments: { ...task('reply x'), timeout: 60 } }, undefined, { onprogress })
  expect(told[0]).toMatch(/^developer in terminal [a-f0-9]{8} is at work of 60$/)
})

test('a worker that crashes is a failure with its reason, and a name that is wrong is one at once', async () => {
  const client = await connectAs(boss)
  expect(await call(client, 'handoff', task('crash 3'))).toMatchObject({
    success: false,
    output: null,
    message: expect.stringContaining('exited with code 3') as unknown,
    terminal_id: expect.stringMatching(/^[a-f0-9]{8}$/) as unknown,
  })
  expect(await call(client, 'handoff', { ...task('reply x'), agent_profile: 'nobody' })).toMatchObject({
    success: false,
    code: 'PROFILE_UNKNOWN',
  })
  expect(await call(client, 'handoff', { ...task('hang'), timeout: 2 })).toMatchObject({
    success: false,
    message: expect.stringContaining('no answer in time') as unknown,
  })
})

test('assign returns while the worker works, and the answer comes by itself, once', async () => {
  const own = await createBoss()
  const client = await connectAs(own)
  const said = await call(client, 'assign', task('wait 1000\nreply the moon is round'))
  expect(said).toEqual({
    success: true,
    terminal_id: expect.stringMatching(/^[a-f0-9]{8}$/) as unknown,
    message: 'developer has the task; its answer will come to you as a message between your turns',
    job_id: expect.stringMatching(/^job-[a-f0-9]{16}$/) as unknown,
  })
  expect(await messagesOf(own)).toEqual([])
  const callback = await eventually('the callback', async () =>
    (await messagesOf(own)).find(({ orchestration_type }) => orchestration_type === 'callback'),
  )
  expect(callback.sender_id).toBe(said['terminal_id'])
  expect(callback.message).toContain('the moon is round')
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(await messagesOf(own)).toHaveLength(1)
  // The worker stays for more.
  expect(await real.client.getTerminal(String(said['terminal_id']))).toMatchObject({ life: 'live' })
})

test('send_message goes to whoever gave the task, or to the one named, never to a stranger', async () => {
  const own = await createBoss()
  const stranger = await createBoss()
  const client = await connectAs(own)
  const { terminal_id } = await call(client, 'assign', task('hang'))
  const worker = await connectAs(await real.client.getTerminal(String(terminal_id)))
  expect(await call(worker, 'send_message', { message: 'half way' })).toMatchObject({
    success: true,
    sender_id: terminal_id,
    receiver_id: own.id,
    state: 'queued',
  })
  expect(await call(client, 'send_message', { message: 'go on', receiver_id: terminal_id })).toMatchObject({
    success: true,
  })
  expect(await call(client, 'send_message', { message: 'x' })).toMatchObject({
    success: false,
    error: 'no agent gave you your task: name the receiver in receiver_id',
  })
  expect(await call(client, 'send_message', { message: 'x', receiver_id: stranger.id })).toMatchObject({
    success: false,
    code: 'FORBIDDEN',
  })
})

test('a question of a worker is answered by its id, and delete_terminal ends the worker', async () => {
  const client = await connectAs(boss)
  const { terminal_id } = await call(client, 'assign', task('ask Which? | red | blue\nreply done'))
  const id = String(terminal_id)
  const question = await waitForQuestion(real, id)
  const wrong = await call(client, 'answer_user_prompt', { terminal_id, answer: 'blue', question_id: 'q-00000000' })
  expect(wrong['success']).toBe(false)
  const args = { terminal_id, answer: 'blue', question_id: question.id }
  expect(await call(client, 'answer_user_prompt', args)).toMatchObject({ success: true, question_id: question.id })
  await eventually('the end of the turn', async () => {
    const { status } = await real.client.getTerminal(id)
    return status === 'completed' ? true : undefined
  })
  expect(await call(client, 'answer_user_prompt', { terminal_id, answer: 'red' })).toMatchObject({
    success: false,
    code: 'CONFLICT',
  })
  expect(await call(client, 'delete_terminal', { terminal_id })).toMatchObject({ success: true })
  expect(await call(client, 'delete_terminal', { terminal_id })).toMatchObject({ success: false, code: 'NOT_FOUND' })
  expect(await call(client, 'delete_terminal', { terminal_id: boss.id })).toMatchObject({
    success: false,
    code: 'FORBIDDEN',
  })
})

test('a handoff outlives a restart of the server, and what was sent meanwhile is delivered once', async () => {
  const own = await createBoss()
  const client = await connectAs(own)
  const assigned = await call(client, 'assign', task('hang'))
  const worker = await connectAs(await real.client.getTerminal(String(assigned['terminal_id'])))
  const asked = call(client, 'handoff', task('wait 4000\nreply still here'))
  await eventually('the worker at work', async () => {
    const terminals = await real.client.listTerminals(own.session_name)
    const found = terminals.find(
      ({ caller_id, status, id }) => caller_id === own.id && status === 'processing' && id !== assigned['terminal_id'],
    )
    return found
  })
  await real.close()
  expect(await call(worker, 'send_message', { message: 'written while it was down' })).toMatchObject({
    success: true,
    message: 'queued: the server is down; it will be delivered when it is back',
  })
  await real.open()
  expect(await asked).toMatchObject({ success: true, output: 'still here' })
  const kept = await eventually('the message', async () => {
    const all = (await messagesOf(own)).filter(({ message }) => message === 'written while it was down')
    return all.length > 0 ? all : undefined
  })
  expect(kept).toMatchObject([{ sender_id: assigned['terminal_id'], receiver_id: own.id }])
  expect(await readdir(real.config.layout.outboxDir)).toEqual([])
})

test('an agent that calls the tools by itself gets what it asked for', async () => {
  const own = await createBoss()
  const rules = ['call handoff {"agent_profile":"developer","message":"reply seven"}', 'reply got {output}']
  await real.client.sendInput(own.id, { message: rules.join('\n') })
  const output = await eventually('its answer', async () => {
    const { status } = await real.client.getTerminal(own.id)
    return status === 'completed' ? (await real.client.readOutput(own.id, 'last')).output : undefined
  })
  expect(output).toBe('got seven')
})
