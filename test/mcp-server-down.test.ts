/**
 * An agent's MCP server while no CAO server answers, over stdio with the official client: nothing is lost, nothing is
 * claimed that is not so, and nothing but the protocol is on stdout.
 */
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { outboxFilesMax, parseOutbox } from '../src/protocol/outbox.ts'

const program = join(import.meta.dirname, '..', 'src', 'main', 'cao-mcp-server.ts')
let dir: string
const open: Client[] = []
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'cao-mcp-'))
  await writeFile(join(dir, 'capability'), 'a-secret', { mode: 0o600 })
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()))
  await rm(dir, { recursive: true })
})

const outbox = () => join(dir, 'outbox')
const identity = () => ({
  CAO_TERMINAL_ID: '12ab34cd',
  CAO_CAPABILITY_FILE: join(dir, 'capability'),
  CAO_SOCKET: join(dir, 'nobody'),
  CAO_OUTBOX: outbox(),
})

async function connect(env: Record<string, string>): Promise<Client> {
  const transport = new StdioClientTransport({ command: process.execPath, args: [program], env, stderr: 'ignore' })
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  open.push(client)
  return client
}

async function call(client: Client, name: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
  const result = await client.callTool({ name, arguments: args })
  const [content] = result.content as { type: string; text: string }[]
  expect(JSON.parse(content?.text ?? '')).toEqual(result.structuredContent)
  return result.structuredContent as Record<string, unknown>
}

test('the tools have the names and arguments that agents know', async () => {
  const { tools } = await (await connect(identity())).listTools()
  const shapes = tools.map(({ name, inputSchema }) => {
    const required = new Set(inputSchema.required)
    const names = Object.keys(inputSchema.properties ?? {})
    return [name, names.filter((key) => required.has(key)), names.filter((key) => !required.has(key))]
  })
  const options = ['working_directory', 'engine', 'model', 'request_key', 'reuse_idle', 'checks', 'use_worktree']
  expect(shapes).toEqual([
    ['handoff', ['agent_profile', 'message'], [...options, 'timeout', 'wait']],
    ['assign', ['agent_profile', 'message'], options],
    ['job_status', [], ['job_id']],
    ['job_result', ['job_id'], ['wait_s']],
    ['job_cancel', ['job_id'], []],
    ['report_result', ['result'], ['status', 'job_id']],
    ['send_message', ['message'], ['receiver_id', 'delivery']],
    ['sent_messages', [], ['message_id', 'action', 'receiver_id']],
    ['answer_user_prompt', ['terminal_id', 'answer'], ['question_id']],
    ['delete_terminal', ['terminal_id'], []],
    ['find_profiles', ['query'], ['limit']],
    ['load_skill', ['name'], []],
    ['list_siblings', [], ['depth', 'cross_session']],
    ['update_metadata', ['metadata'], []],
  ])
  for (const { description } of tools) expect(description?.length).toBeGreaterThan(80)
})

test('a message is put aside as one private file and said to be queued', async () => {
  const client = await connect(identity())
  const said = await call(client, 'send_message', { receiver_id: 'aaaaaaaa', message: 'done: 42 «ok»' })
  expect(said).toMatchObject({
    success: true,
    message: 'queued: the server is down; it will be delivered when it is back',
    receiver_id: 'aaaaaaaa',
  })
  const names = await readdir(outbox())
  expect(names).toEqual([`${String(said['uuid'])}.json`])
  const path = join(outbox(), names[0] ?? '')
  expect(parseOutbox(await readFile(path, 'utf8'))).toMatchObject({
    ok: true,
    message: { sender_id: '12ab34cd', receiver_id: 'aaaaaaaa', message: 'done: 42 «ok»' },
  })
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect((await stat(outbox())).mode & 0o777).toBe(0o700)
})

test('without a receiver it is left to the server to find who gave the task', async () => {
  const client = await connect(identity())
  await call(client, 'send_message', { message: 'done' })
  const [name = ''] = await readdir(outbox())
  expect(parseOutbox(await readFile(join(outbox(), name), 'utf8'))).toMatchObject({ message: { receiver_id: null } })
})

test('ten messages at once are ten files', async () => {
  const client = await connect(identity())
  const sent = Array.from({ length: 10 }, (_, i) => call(client, 'send_message', { message: `part ${i}` }))
  expect((await Promise.all(sent)).every(({ success }) => success === true)).toBe(true)
  const texts = await Promise.all((await readdir(outbox())).map((name) => readFile(join(outbox(), name), 'utf8')))
  const bodies = texts.map((text) => (JSON.parse(text) as { message: string }).message)
  expect(bodies.toSorted()).toEqual(Array.from({ length: 10 }, (_, i) => `part ${i}`))
})

test('a full outbox is said aloud and takes no more', async () => {
  const client = await connect(identity())
  await call(client, 'send_message', { message: 'first' })
  const name = (i: number) => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}.json`
  await Promise.all(Array.from({ length: outboxFilesMax - 1 }, (_, i) => writeFile(join(outbox(), name(i)), '')))
  const said = await call(client, 'send_message', { message: 'one too many' })
  expect(said).toMatchObject({ success: false, code: 'QUEUE_FULL' })
  expect(await readdir(outbox())).toHaveLength(outboxFilesMax)
})

test('a message to oneself is refused before anything is written', async () => {
  const client = await connect(identity())
  const said = await call(client, 'send_message', { receiver_id: '12ab34cd', message: 'hello me' })
  expect(said).toMatchObject({ success: false, code: 'BAD_REQUEST' })
  await expect(readdir(outbox())).rejects.toMatchObject({ code: 'ENOENT' })
})

test('delegation fails clearly after ten seconds, all calls at the same time, and leaves nothing behind', async () => {
  const client = await connect(identity())
  const beganAtMs = performance.now()
  const task = { agent_profile: 'developer', message: 'do it' }
  const said = await Promise.all([call(client, 'handoff', task), call(client, 'assign', task)])
  const tookMs = performance.now() - beganAtMs
  for (const result of said) {
    expect(result).toMatchObject({
      success: false,
      code: 'SERVER_UNREACHABLE',
      message: 'the CAO server is down, nothing was started (waited 10 s): try again later',
    })
  }
  expect(tookMs).toBeGreaterThan(9_000)
  expect(tookMs).toBeLessThan(15_000)
  await expect(readdir(outbox())).rejects.toMatchObject({ code: 'ENOENT' })
})

test('what can not wait says at once that the server is down', async () => {
  const client = await connect(identity())
  const answered = await call(client, 'answer_user_prompt', { terminal_id: 'aaaaaaaa', answer: '1' })
  expect(answered).toMatchObject({ success: false, code: 'SERVER_UNREACHABLE' })
  expect(answered['error']).toContain('cao server start')
  expect(await call(client, 'delete_terminal', { terminal_id: 'aaaaaaaa' })).toMatchObject({ success: false })
})

test.each(['CAO_TERMINAL_ID', 'CAO_CAPABILITY_FILE', 'CAO_SOCKET', 'CAO_OUTBOX'] as const)(
  'without %s the tools are there and say why they can not act; it never acts as somebody else',
  async (name) => {
    const { [name]: _left, ...rest } = identity()
    const client = await connect(rest)
    const said = await call(client, 'send_message', { message: 'hello' })
    expect(said).toMatchObject({
      success: false,
      code: 'SETUP_MISSING',
      error: `this MCP server belongs to an agent that CAO has started: ${name} is not set`,
    })
  },
)

test('bad arguments are answered by the protocol, not by a crash', async () => {
  const client = await connect(identity())
  const result = await client.callTool({ name: 'handoff', arguments: { agent_profile: 'x', message: 'y', timeout: 0 } })
  expect(result.isError).toBe(true)
  const { tools } = await client.listTools()
  expect(tools).toHaveLength(14)
})
