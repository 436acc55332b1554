/**
 * Every route and every tool against inputs that are hostile or nearly right, from people and from agents. What must hold for each: an answer
 * within its time, of a code that the route's declaration names, never an unexpected fault; nothing is run that stood in a text, and what
 * was refused has created nothing. The seed is fixed, and printed in the test's name: `CAO_FUZZ_SEED` sets another one,
 * `CAO_FUZZ_RUNS` the number of requests (the default is what `npm test` has time for).
 */
import { existsSync } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { systemClock } from '../src/async/clock-system.ts'
import { createClient } from '../src/client/client.ts'
import { errorTable, isErrorCode } from '../src/domain/errors.ts'
import { type TerminalId, trustId } from '../src/domain/ids.ts'
import { silentLog } from '../src/lib/log.ts'
import { opsTools } from '../src/mcp/ops/ops-tools.ts'
import { createMcpServer } from '../src/mcp/server.ts'
import { tools } from '../src/mcp/tools.ts'
import type { TerminalBody } from '../src/protocol/terminal.ts'
import { impliedErrors, type Route } from '../src/server/route.ts'
import { routes } from '../src/server/routes.ts'
import { RealServer } from './real-server.case.ts'

const seed = Number(process.env['CAO_FUZZ_SEED'] ?? 20_261_201)
const runs = Number(process.env['CAO_FUZZ_RUNS'] ?? 1_500)
/** Longer than any wait that the inputs can ask for. Units: ms. */
const answerLimitMs = 30_000
/** Requests after which the agents that were made are ended. */
const sweepEvery = 400
vi.setConfig({ testTimeout: 120_000 + runs * 100, hookTimeout: 120_000 })

let real: RealServer
let project: string
let canary: string
let boss: TerminalBody
let stranger: TerminalBody

beforeAll(async () => {
  real = await RealServer.start()
  project = join(real.home, 'project')
  canary = join(project, 'canary')
  await mkdir(project)
  boss = await real.client.createSession({ agent_profile: 'code_supervisor', ...scripted() })
  stranger = await real.client.createSession({ agent_profile: 'developer', ...scripted() })
})
afterAll(() => real[Symbol.asyncDispose]())

const scripted = () => ({ provider: 'scripted', working_directory: project })

/** Texts that some part on their way could take for a command, a format, a key, a path or a header. */
function hostileText(): fc.Arbitrary<string> {
  const commands = [
    `#(touch ${canary})`,
    `$(touch ${canary})`,
    `\`touch ${canary}\``,
    `';touch ${canary};'`,
    `%if`,
    '#{pane_id}',
  ]
  const escapes = [
    '\u001b[201~',
    '\u001b]0;x\u0007',
    '\u009b31m',
    '\u0000',
    '\r',
    '\n\n',
    '\u202e',
    '\ud800',
    '~.',
    '\u007f',
  ]
  const paths = [
    '..',
    '../../etc/passwd',
    '%2e%2e%2f',
    '/etc/passwd',
    '/dev/zero',
    '/proc/self/environ',
    'C:\\x',
    'file:///etc/passwd',
  ]
  const words = [
    '__proto__',
    'constructor',
    'null',
    'true',
    '-1',
    '1e309',
    '00000000',
    'NaN',
    '',
    ' ',
    '<img src=x onerror=alert(1)>',
  ]
  const fixed = fc.constantFrom(...commands, ...escapes, ...paths, ...words)
  return fc.oneof(
    { weight: 4, arbitrary: fixed },
    { weight: 2, arbitrary: fc.tuple(fixed, fixed).map((pair) => pair.join('')) },
    { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
    { weight: 1, arbitrary: fc.constantFrom(300, 5_000, 70_000).map((length) => 'x'.repeat(length)) },
  )
}

/** A right value for a parameter; undefined where it is best left out. Waits are short, so that a long answer is a hang. */
function rightValue(name: string): unknown {
  const texts = ['message', 'prompt', 'answer', 'content', 'description']
  if (texts.includes(name)) return 'reply well'
  const known: Readonly<Record<string, unknown>> = {
    agent: 'developer',
    agent_profile: 'developer',
    allowed_tools: ['fs_read'],
    client_env: { PATH: process.env['PATH'] ?? '' },
    defer_init: true,
    depth: 1,
    directory: project,
    env_vars: { A: 'b' },
    group: ['a', 'b'],
    initial_message: 'reply well',
    key: 'Escape',
    kind: 'assign',
    length: 10,
    limit: 5,
    metadata: { a: 1 },
    mode: 'last',
    name: 'fuzzed',
    offset: 0,
    orchestration_type: 'send_message',
    provider: 'scripted',
    query: 'developer',
    receiver_id: stranger.id,
    repository: project,
    terminal_id: boss.id,
    timeout: 1,
    wait_s: 0.3,
    working_directory: project,
  }
  return known[name]
}

/** What is nearly right, by the name of a parameter. */
function plausible(name: string): fc.Arbitrary<unknown> | undefined {
  const waits = fc.constantFrom(0.2, 0.5, 0, -1, 1e12, '0.2', 'x', '', [])
  const ids = fc.constantFrom(boss.id, stranger.id, '00000000', boss.id.toUpperCase(), `${boss.id}0`)
  const known: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
    wait_s: waits,
    timeout: waits,
    agent_profile: fc.constantFrom('developer', 'nobody', '../developer', ''),
    agent: fc.constantFrom('developer', 'nobody', '../developer', ''),
    provider: fc.constantFrom('scripted', 'nothing'),
    working_directory: fc.constantFrom(project, `${project}/missing`, 'relative', '/dev/null', `${project}/#(touch x)`),
    session_name: fc.constantFrom(boss.session_name, 'cao-new', 'new', 'cao-', 'a.b:c', 'x'.repeat(65)),
    env_vars: fc.constantFrom({ A: 'b' }, { 'A B': 'c' }, { TMUX: 'x' }, { A: 'x\u0000' }, { LD_PRELOAD: 1 }, []),
    client_env: fc.constantFrom({ PATH: process.env['PATH'] ?? '' }, {}, { A: 1 }, { TMUX: '1' }),
    key: fc.constantFrom('Enter', 'C-c', 'Escape', 'F1', 'x', '#(x)', '-t'),
    mode: fc.constantFrom('last', 'full', 'screen', 'none'),
    limit: fc.constantFrom(1, 0, -1, 500, 501, 1e9, '10', '1e3'),
    offset: fc.constantFrom(0, -1, 1e15, '5', 'x'),
    length: fc.constantFrom(1, 0, -1, 1e15, '5', 'x'),
    after: fc.constantFrom(0, -1, 5, 1e15, 'x'),
    uuid: fc.constantFrom('6f9619ff-8b86-4d01-b42d-00cf4fc964ff', 'x'),
    question_id: fc.constantFrom('q-00000000', 'q-', 'x'),
  }
  if (/(^|_)id$/.test(name) && known[name] === undefined) return ids
  return known[name]
}

function valueOf(name: string): fc.Arbitrary<unknown> {
  const near = plausible(name)
  // A wait that is not from the list above could be as long as it likes, and a provider that is left open any CLI of this machine.
  if (near !== undefined && ['wait_s', 'timeout', 'provider', 'client_env'].includes(name)) return near
  const text = hostileText()
  return fc.oneof(
    ...(near === undefined ? [] : [{ weight: 6, arbitrary: near }]),
    { weight: 3, arbitrary: text },
    { weight: 1, arbitrary: fc.boolean() },
    { weight: 1, arbitrary: fc.double({ noNaN: true }) },
    { weight: 1, arbitrary: fc.array(text, { maxLength: 3 }) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  )
}

/** All right, all but one, or anyhow. */
function paramsOf(shape: Readonly<Record<string, unknown>>): fc.Arbitrary<Record<string, unknown>> {
  const names = Object.keys(shape)
  if (names.length === 0) return fc.constant({})
  const right = Object.fromEntries(
    names.flatMap((name) => (rightValue(name) === undefined ? [] : [[name, rightValue(name)]])),
  )
  const oneWrong = fc
    .constantFrom(...names)
    .chain((name) => valueOf(name).map((value) => ({ ...right, [name]: value }) as Record<string, unknown>))
  const model = Object.fromEntries(names.map((name) => [name, valueOf(name)]))
  const requiredKeys = names.filter((name) => ['timeout', 'provider', 'wait_s'].includes(name))
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant(right) },
    { weight: 5, arbitrary: oneWrong },
    { weight: 2, arbitrary: fc.record(model, { requiredKeys }) },
  )
}

type Actor = 'person' | 'boss' | 'stranger'
type Call = {
  readonly at: string
  readonly actor: Actor
  readonly parts: Readonly<Record<string, string>>
  readonly params: Readonly<Record<string, unknown>>
  readonly place: 'query' | 'body' | 'text'
  readonly type: string
}

/** What ends agents is asked for by people only of those that are not there, and by agents of everybody. */
const routeAt = (at: string): Route => routes.find((route) => route.at === at) as Route
const isEnding = ({ at, method }: Route): boolean => method === 'DELETE' || /exit|shutdown|recover/.test(at)

/** What may stand in the path: mostly what is there. */
function targetsOf({ pattern }: Route): readonly string[] {
  if (pattern.startsWith('/terminals/')) return [boss.id, boss.id, stranger.id, '00000000']
  if (pattern.startsWith('/sessions/')) return [boss.session_name, stranger.session_name, 'cao-nobody']
  if (pattern.startsWith('/agents/')) return ['developer', 'nobody', 'fuzzed']
  return ['1', '2', 'job-0000000000000000', boss.id, 'nobody']
}

function callOf(route: Route): fc.Arbitrary<Call> {
  const actor = fc.constantFrom<Actor>('person', 'person', 'person', 'boss', 'stranger')
  const isAll = !route.pattern.includes(':')
  return (isEnding(route) && isAll ? fc.constantFrom<Actor>('boss', 'stranger') : actor).chain((who) => {
    const isSafe = isEnding(route) && (who === 'person' || who === 'boss')
    const targets = isSafe ? ['00000000'] : targetsOf(route)
    const part = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...targets) },
      { weight: 1, arbitrary: hostileText().map((text) => text.slice(0, 300)) },
    )
    return fc.record({
      at: fc.constant(route.at),
      actor: fc.constant(who),
      parts: fc.record(Object.fromEntries([...route.pattern.matchAll(/:(\w+)/g)].map(([, name]) => [name, part]))),
      params: paramsOf(route.params?.shape ?? { message: z.string() }),
      place: fc.constantFrom('query', 'body', 'body', 'body', 'body', 'body', 'text'),
      type: fc.constantFrom(
        'application/json',
        'application/json',
        'application/json; charset=utf-8',
        'text/plain',
        '',
      ),
    }) as fc.Arbitrary<Call>
  })
}

type Answer = { readonly status: number; readonly text: string }

const toPath = (text: string): string => encodeURIComponent(text.toWellFormed())

/** Sends it and waits for the whole answer, but of a stream only for its head. Errors: says which request got none. */
async function send({ at, actor, parts, params, place, type }: Call): Promise<Answer> {
  const route = routeAt(at)
  const isBody = route.method !== 'GET' && place !== 'query'
  const flat = Object.entries(params).map(([name, value]): [string, string] => [
    name,
    String(value).toWellFormed().slice(0, 10_000),
  ])
  const query = isBody ? '' : `?${new URLSearchParams(flat).toString()}`
  const path = route.pattern.replaceAll(/:(\w+)/g, (_all, name: string) => toPath(parts[name] ?? '') || '%20') + query
  const safe = 'reuse_terminal_id' in params ? { ...params, teardown: false } : params
  const payload = !isBody ? '' : place === 'text' ? '{"message": ' : JSON.stringify(safe)
  const capability =
    actor === 'person' ? {} : { 'x-cao-capability': await real.capability((actor === 'boss' ? boss : stranger).id) }
  const told =
    route.method === 'GET' ? {} : { 'content-length': String(Buffer.byteLength(payload)), 'content-type': type }
  return ask(route.method, path, { ...capability, ...told }, payload)
}

function ask(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  payload: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(
      () => reject(new Error(`no answer in ${answerLimitMs} ms: ${method} ${path}`)),
      answerLimitMs,
    )
    const sent = request({ socketPath: real.socketPath, method, path, headers, agent: false }, (answer) => {
      let text = ''
      const end = () => {
        clearTimeout(late)
        resolve({ status: answer.statusCode ?? 0, text })
        answer.destroy()
      }
      if (answer.headers['content-type']?.startsWith('text/event-stream') === true) return end()
      answer.setEncoding('utf8').on('data', (part: string) => (text += part))
      answer.on('end', end).on('error', reject)
    })
    sent.on('error', reject)
    sent.end(payload)
  })
}

/** Of the guard: any route may answer with them. */
const guardCodes = [
  'BAD_REQUEST',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'TOO_LARGE',
  'RATE_LIMITED',
  'METHOD_NOT_ALLOWED',
  'NOT_FOUND',
]

/** Undefined: as declared. */
function findFault(route: Route, { status, text }: Answer): string | undefined {
  if (status < 400) return undefined
  const { code, detail } = JSON.parse(text) as { code: string; detail: unknown }
  const told = `${route.at}: ${status} ${code} ${JSON.stringify(detail).slice(0, 300)}`
  if (!isErrorCode(code) || errorTable[code].httpStatus !== status) return `${told} (no code of the table)`
  const declared: readonly string[] = [...impliedErrors(route), ...(route.errors ?? []), ...guardCodes]
  if (!declared.includes(code)) return `${told} (not declared)`
  return status === 500 ? told : undefined
}

const liveTerminals = async (): Promise<readonly TerminalBody[]> =>
  (await real.client.listTerminals()).filter(({ life }) => life !== 'deleted')

test(`routes: an answer that is declared, in time, and nothing left (seed ${seed}, ${runs} requests)`, async () => {
  const made = new Set<string>([boss.id, stranger.id])
  const jobs = new Set<string>()
  const faults = new Map<string, string>()
  const answered = new Map<string, number>()
  const note = ({ status, text }: Answer) => {
    // A step that was begun and failed has a worker, too.
    if (status >= 400 && status < 500) return
    for (const [, id] of text.matchAll(/"(?:terminal_)?id":"([0-9a-f]{8})"/g)) if (id !== undefined) made.add(id)
    for (const [job] of text.matchAll(/job-[0-9a-f]{16}/g)) jobs.add(job)
  }
  /** What is there has been asked for and granted; it is ended, so that a long run does not end in a crowd. */
  const sweep = async () => {
    for (const job of jobs) {
      await ask('POST', `/jobs/${job}/cancel`, { 'content-type': 'application/json' }, '')
      const { terminal_id: worker } = await real.client.getJob(job, 0)
      if (worker !== null) made.add(worker)
    }
    jobs.clear()
    const there = (await liveTerminals()).map(({ id }) => id)
    expect(there.filter((id) => !made.has(id))).toEqual([])
    for (const id of there) if (id !== boss.id && id !== stranger.id) await real.client.deleteTerminal(id)
  }
  let asked = 0
  const every = fc.constantFrom(...routes).chain(callOf)
  await fc.assert(
    fc.asyncProperty(every, async (call) => {
      if (++asked % sweepEvery === 0) await sweep()
      const answer = await send(call)
      // A list names everybody: only what a request of its own has made counts.
      if (call.at.startsWith('POST')) note(answer)
      answered.set(call.at, (answered.get(call.at) ?? 0) + (answer.status < 400 ? 1 : 0))
      const fault = findFault(routeAt(call.at), answer)
      if (fault !== undefined)
        faults.set(`${call.at} ${answer.status}`, `${fault} after ${JSON.stringify(call).slice(0, 500)}`)
    }),
    { seed, numRuns: runs, endOnFailure: true },
  )
  expect(existsSync(canary)).toBe(false)
  expect([...faults.values()]).toEqual([])
  // The inputs are near enough that many are taken.
  expect([...answered.values()].filter((count) => count > 0).length).toBeGreaterThan(25)
  await sweep()
  expect((await ask('GET', '/health', {}, '')).status).toBe(200)
})

test('bytes that are no HTTP are answered or cut off, and the server goes on', async () => {
  const garbage = [
    'GET / HTTP/9.9\r\n\r\n',
    '\u0000\u0001\u0002\r\n\r\n',
    'POST /sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /sessions HTTP/1.1\r\n\r\n',
    'POST /sessions HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
    `GET /${'x'.repeat(400_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    'GET /terminals HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'GET http://evil.example/terminals HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    'GET /terminals/%E0%A4%A HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    'GET /terminals/%00 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  ]
  const firstLine = (bytes: string): Promise<string> =>
    new Promise((resolve) => {
      let text = ''
      const socket = connect(real.socketPath, () => socket.end(bytes))
      const late = setTimeout(() => socket.destroy(), answerLimitMs)
      socket.on('data', (part: Buffer) => (text += part.toString('latin1')))
      socket.on('error', () => undefined)
      socket.on('close', () => {
        clearTimeout(late)
        resolve(text.split('\r\n')[0] ?? '')
      })
    })
  const lines = await Promise.all(garbage.map(firstLine))
  expect(lines.filter((line) => !/^$|^HTTP\/1\.1 (200|4\d\d) /.test(line))).toEqual([])
  expect((await ask('GET', '/health', {}, '')).status).toBe(200)
})

/** The tools of an agent, and those of a person's assistant. */
function openTools(kind: 'agent' | 'assistant', capability: string): ReturnType<typeof createMcpServer> {
  const common = {
    version: '0',
    instructions: '',
    clock: systemClock,
    log: silentLog,
    makeUuid: () => crypto.randomUUID(),
  }
  const { socketPath } = real
  const clientOf = (options: object) => createClient({ socketPath }, { clock: systemClock, ...options })
  if (kind === 'assistant') {
    const open = () =>
      Promise.resolve({ client: clientOf({}), cwd: project, clientEnv: { PATH: process.env['PATH'] ?? '' } })
    return createMcpServer({ ...common, name: 'cao-ops-mcp-server', tools: opsTools, open })
  }
  const terminalId = trustId<TerminalId>(boss.id)
  const identity = { terminalId, capability, socketPath, outboxDir: real.config.layout.outboxDir }
  const open = () => Promise.resolve({ identity, client: clientOf({ capability }) })
  return createMcpServer({ ...common, name: 'cao-mcp-server', tools, open })
}

const inputsOf = {
  agent: () => tools.map(({ name, input }) => ({ name, input })),
  assistant: () => opsTools.map(({ name, input }) => ({ name, input })),
}
/** The end of what this test stands on. */
const endsItself = (name: string, params: Readonly<Record<string, unknown>>): boolean =>
  /^(delete|shutdown)_/.test(name) &&
  Object.values(params).some((value) => [boss.id, boss.session_name].includes(String(value)))

test.each(['agent', 'assistant'] as const)(
  `tools of an %s: an answer in time that a model can read, and nothing left (seed ${seed})`,
  async (kind) => {
    const server = openTools(kind, await real.capability(boss.id))
    const client = new Client({ name: 'fuzz', version: '1' })
    const [near, far] = InMemoryTransport.createLinkedPair()
    await Promise.all([server.connect(far), client.connect(near)])
    const made = new Set((await liveTerminals()).map(({ id }) => id))
    const every = fc
      .constantFrom(...inputsOf[kind]())
      .chain(({ name, input }) => fc.record({ name: fc.constant(name), params: paramsOf(input) }))
    await fc.assert(
      fc.asyncProperty(every, async ({ name, params }) => {
        if (endsItself(name, params)) return
        const answer = await client
          .callTool({ name, arguments: params }, undefined, { timeout: answerLimitMs })
          .catch((error: unknown) => ({ content: [{ type: 'text', text: String(error) }] }))
        const text = JSON.stringify(answer)
        for (const [id] of text.matchAll(/\b[0-9a-f]{8}\b/g)) made.add(id)
        expect(text).not.toMatch(/INTERNAL|Request timed out|at async|node:internal/)
      }),
      { seed, numRuns: Math.ceil(runs / 10), endOnFailure: true },
    )
    await client.close()
    expect(existsSync(canary)).toBe(false)
    expect((await liveTerminals()).filter(({ id }) => !made.has(id))).toEqual([])
    expect(await readdir(real.config.layout.outboxDir)).toEqual([])
  },
)
