/** The tools by which an agent finds its way (profiles, skills, others of its group), over stdio with the official client on the whole real CAO. */
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { TerminalBody } from '../src/protocol/terminal.ts'
import { RealServer } from './real-server.case.ts'

const program = join(import.meta.dirname, '..', 'src', 'main', 'cao-mcp-server.ts')
vi.setConfig({ testTimeout: 60_000, hookTimeout: 90_000 })
let real: RealServer
/** May look around, and may not. */
let scout: TerminalBody
let plain: TerminalBody
const open: Client[] = []

beforeAll(async () => {
  real = await RealServer.start()
  const { agentStoreDir, skillsDir } = real.config.layout
  await mkdir(join(skillsDir, 'deploy'), { recursive: true })
  await writeFile(
    join(skillsDir, 'deploy', 'SKILL.md'),
    '---\nname: deploy\ndescription: how we ship\n---\nRun `make ship`, once.\n',
  )
  await symlink('/etc', join(skillsDir, 'etc'))
  await mkdir(agentStoreDir, { recursive: true })
  await writeFile(
    join(agentStoreDir, 'tester.md'),
    '---\nname: tester\ndescription: writes wonderful tests\ntags: [testing]\n---\nYour secret prompt.\n',
  )
  const make = (allowed_tools: string[]) =>
    real.client.createSession({ agent_profile: 'developer', provider: 'scripted', allowed_tools })
  scout = await make(['discovery', '@cao-mcp-server'])
  plain = await make(['@cao-mcp-server'])
})
afterAll(async () => {
  await Promise.all(open.map((client) => client.close()))
  await real[Symbol.asyncDispose]()
})

async function connectAs({ id }: TerminalBody): Promise<Client> {
  const { layout } = real.config
  const env = {
    CAO_TERMINAL_ID: id,
    CAO_CAPABILITY_FILE: join(layout.terminalsDir, id, 'capability'),
    CAO_SOCKET: real.socketPath,
    CAO_OUTBOX: layout.outboxDir,
  }
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [program], env, stderr: 'ignore' }))
  open.push(client)
  return client
}

type Said = Readonly<Record<string, unknown>>
const call = async (client: Client, name: string, args: Record<string, unknown>): Promise<Said> =>
  (await client.callTool({ name, arguments: args })).structuredContent as Said

test('a server says once what its tools are for', async () => {
  expect((await connectAs(plain)).getInstructions()).toMatch(/handoff: wait for the answer; assign: go on/)
})

test('find_profiles finds by words, best first, and never shows a prompt', async () => {
  const client = await connectAs(plain)
  const said = await call(client, 'find_profiles', { query: 'wonderful TESTS', limit: 2 })
  expect(said).toMatchObject({ success: true })
  expect((said['profiles'] as Said[]).map(({ name }) => name)).toEqual(['tester', 'developer'])
  expect(JSON.stringify(said)).not.toContain('secret prompt')
  expect(await call(client, 'find_profiles', { query: 'zzz' })).toEqual({ success: true, profiles: [] })
})

test('load_skill gives the text; a wrong name is answered with those there are, a path is refused', async () => {
  const client = await connectAs(plain)
  expect(await call(client, 'load_skill', { name: 'deploy' })).toEqual({
    success: true,
    name: 'deploy',
    description: 'how we ship',
    content: 'Run `make ship`, once.',
    directory: join(real.config.layout.skillsDir, 'deploy'),
  })
  expect(await call(client, 'load_skill', { name: 'deplyo' })).toMatchObject({
    success: false,
    code: 'NOT_FOUND',
    message: 'no skill is called deplyo; there are: cao-supervisor-protocols, cao-worker-protocols, deploy',
  })
  for (const name of ['../deploy', 'etc/passwd', '%2e%2e/deploy', 'a b']) {
    expect(await call(client, 'load_skill', { name })).toMatchObject({ success: false, code: 'BAD_REQUEST' })
  }
  expect(await call(client, 'load_skill', { name: 'etc' })).toMatchObject({ success: false, code: 'NOT_FOUND' })
})

test('agents of one group find each other and read what each tells of itself', async () => {
  const other = await real.client.createTerminal(scout.session_name, {
    agent_profile: 'developer',
    provider: 'scripted',
  })
  await real.client.setGroup(scout.id, ['app', 'api'])
  await real.client.setGroup(other.id, ['app', 'web'])
  await real.client.setGroup(plain.id, ['app'])
  const client = await connectAs(scout)
  expect(await call(client, 'update_metadata', { metadata: { task: 'parser' } })).toEqual({
    success: true,
    terminal_id: scout.id,
    metadata: { task: 'parser' },
  })
  expect((await real.client.getTerminal(scout.id)).metadata).toEqual({ task: 'parser' })
  const sibling = { id: other.id, group: ['app', 'web'], metadata: null, status: 'idle' }
  expect(await call(client, 'list_siblings', { depth: 1 })).toEqual({ success: true, siblings: [sibling] })
  expect(await call(client, 'list_siblings', {})).toEqual({ success: true, siblings: [] })
  const all = await call(client, 'list_siblings', { depth: 1, cross_session: true })
  expect(new Set((all['siblings'] as Said[]).map(({ id }) => id))).toEqual(new Set([other.id, plain.id]))
})

test('an agent whose profile does not allow discovery sees nobody and tells nothing', async () => {
  const client = await connectAs(plain)
  const refused = { success: false, code: 'FORBIDDEN', error: expect.stringContaining('"discovery"') as unknown }
  expect(await call(client, 'list_siblings', {})).toMatchObject(refused)
  expect(await call(client, 'update_metadata', { metadata: { a: 1 } })).toMatchObject(refused)
  expect((await real.client.getTerminal(plain.id)).metadata).toBeNull()
})

test('bad arguments, too much metadata, and a server that is away are answers in words, and the child lives on', async () => {
  const client = await connectAs(scout)
  const bad: [string, Record<string, unknown>][] = [
    ['find_profiles', {}],
    ['find_profiles', { query: '' }],
    ['find_profiles', { query: 'x', limit: 0 }],
    ['load_skill', { name: 7 }],
    ['list_siblings', { depth: -1 }],
    ['update_metadata', { metadata: 'text' }],
  ]
  for (const [name, args] of bad) {
    const result = await client.callTool({ name, arguments: args })
    expect(result.isError, `${name} ${JSON.stringify(args)}`).toBe(true)
    expect(JSON.stringify(result.content)).toContain(name)
  }
  const large = { metadata: { text: 'x'.repeat(17_000) } }
  expect(await call(client, 'update_metadata', large)).toMatchObject({
    success: false,
    code: expect.stringMatching(/VALIDATION|TOO_LARGE/) as unknown,
  })
  await real.close()
  for (const [name, args] of [
    ['find_profiles', { query: 'x' }],
    ['load_skill', { name: 'deploy' }],
    ['list_siblings', {}],
    ['update_metadata', { metadata: {} }],
  ] as const) {
    expect(await call(client, name, args)).toMatchObject({ success: false, code: 'SERVER_UNREACHABLE' })
  }
  await real.open()
  expect(await call(client, 'load_skill', { name: 'deploy' })).toMatchObject({ success: true })
})
