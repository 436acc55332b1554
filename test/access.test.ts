/**
 * Every route of the app against everybody who may call it: nobody, the read-only token, the full one, an agent on its own account, on its
 * team's and on a stranger's, and an agent that acts in another's name. The table of rights says what must come out; a route
 * without a line in it fails here.
 */
import { mkdir } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { systemClock } from '../src/async/clock-system.ts'
import { silentLog } from '../src/lib/log.ts'
import type { TerminalBody } from '../src/protocol/terminal.ts'
import { createHttpApp } from '../src/server/http-app.ts'
import { RealServer } from './real-server.case.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 90_000 })

/** Which token a person must show on TCP: none, the read-only one or the full one, only the full one. */
type TokenRight = 'none' | 'read' | 'full'
/**
 * What an agent may: nothing; ask about anybody; look at its team; act on its team but itself and whom it works for;
 * change what is told of itself and of those; act in its own name, whatever the request says.
 */
type AgentRight = 'nobody' | 'all' | 'reach' | 'command' | 'change' | 'own'
type Right = { readonly token: TokenRight; readonly agent: AgentRight }

const right = (token: TokenRight, agent: AgentRight): Right => ({ token, agent })

const rights: Readonly<Record<string, Right>> = {
  'GET /health': right('none', 'all'),
  'GET /openapi.json': right('none', 'all'),
  'GET /.well-known/oauth-protected-resource': right('none', 'all'),
  'GET /doctor': right('read', 'nobody'),
  'GET /agents/profiles': right('read', 'all'),
  'GET /agents/profiles/:name': right('read', 'all'),
  'GET /agents/profiles/search': right('read', 'all'),
  'GET /agents/profiles/schema': right('read', 'all'),
  'POST /agents/profiles/validate': right('full', 'all'),
  'GET /agents/profiles/templates': right('read', 'all'),
  'GET /agents/profiles/templates/:category/:name/schema': right('read', 'all'),
  'POST /agents/profiles/templates/validate': right('full', 'all'),
  'POST /agents/profiles/templates/preview': right('full', 'all'),
  'POST /agents/profiles/install': right('full', 'nobody'),
  'POST /agents/profiles': right('full', 'nobody'),
  'DELETE /agents/profiles/:name': right('full', 'nobody'),
  'GET /agents/providers': right('read', 'all'),
  'GET /settings/agent-dirs': right('read', 'all'),
  'POST /settings/agent-dirs': right('full', 'nobody'),
  'GET /settings/skill-dirs': right('read', 'all'),
  'POST /settings/skill-dirs': right('full', 'nobody'),
  'GET /settings/memory': right('read', 'all'),
  'GET /skills': right('read', 'all'),
  'GET /skills/:name': right('read', 'all'),
  'POST /sessions': right('full', 'own'),
  'GET /sessions': right('read', 'all'),
  'GET /sessions/:name': right('read', 'all'),
  'DELETE /sessions/:name': right('full', 'nobody'),
  'POST /shutdown-all': right('full', 'nobody'),
  'POST /sessions/:name/terminals': right('full', 'own'),
  'GET /sessions/:name/terminals': right('read', 'all'),
  'GET /terminals': right('read', 'all'),
  'GET /terminals/:id': right('read', 'all'),
  'DELETE /terminals/:id': right('full', 'command'),
  'PATCH /terminals/:id/group': right('full', 'change'),
  'PATCH /terminals/:id/metadata': right('full', 'change'),
  'GET /terminals/:id/working-directory': right('read', 'all'),
  'GET /terminals/:id/siblings': right('read', 'all'),
  'GET /terminals/:id/attach': right('read', 'reach'),
  'GET /terminals/:id/explain': right('read', 'reach'),
  'GET /terminals/:id/capture': right('read', 'nobody'),
  'POST /terminals/:id/input': right('full', 'command'),
  'POST /terminals/:id/command': right('full', 'nobody'),
  'POST /terminals/:id/key': right('full', 'command'),
  'POST /terminals/:id/hold': right('full', 'nobody'),
  'POST /terminals/:id/release': right('full', 'nobody'),
  'POST /terminals/:id/exit': right('full', 'command'),
  'GET /terminals/:id/output': right('read', 'reach'),
  'GET /terminals/:id/output/range': right('read', 'reach'),
  'POST /terminals/:id/recover': right('full', 'nobody'),
  'POST /recover': right('full', 'nobody'),
  'POST /adopt': right('full', 'nobody'),
  'POST /purge': right('full', 'nobody'),
  'POST /terminals/:id/inbox/messages': right('full', 'reach'),
  'GET /terminals/:id/inbox/messages': right('read', 'reach'),
  'GET /messages': right('read', 'all'),
  'GET /messages/:id': right('read', 'own'),
  'POST /messages/:id/resend': right('full', 'own'),
  'POST /messages/:id/drop': right('full', 'own'),
  'POST /terminals/run-step': right('full', 'own'),
  'POST /jobs': right('full', 'own'),
  'GET /jobs': right('read', 'all'),
  'GET /jobs/:id': right('read', 'own'),
  'POST /jobs/:id/cancel': right('full', 'own'),
  'POST /jobs/:id/retry': right('full', 'own'),
  'POST /jobs/:id/report': right('full', 'own'),
  'GET /questions': right('read', 'nobody'),
  'GET /terminals/:id/questions': right('read', 'reach'),
  'POST /terminals/:id/answer': right('full', 'command'),
  'GET /notify': right('read', 'nobody'),
  'POST /notify/test': right('full', 'nobody'),
  'GET /worktrees': right('read', 'all'),
  'DELETE /worktrees/:id': right('full', 'own'),
  'GET /worktrees/setup': right('read', 'nobody'),
  'PUT /worktrees/setup': right('full', 'nobody'),
  'GET /events': right('read', 'nobody'),
  'GET /events/history': right('read', 'nobody'),
}

/** What the app really has; nothing is asked of it here. */
const routes = createHttpApp({
  app: undefined as never,
  clock: systemClock,
  log: silentLog,
  version: '0',
  closing: new AbortController().signal,
  capabilities: { find: () => undefined },
  rules: { hosts: [], origins: [] },
  audit: () => undefined,
})
  .routes.filter(({ method }) => method !== 'ALL')
  .map(({ method, path }) => `${method} ${path}`)

let real: RealServer
let boss: TerminalBody
let worker: TerminalBody
let helper: TerminalBody
let stranger: TerminalBody
let strangersJob: string
let strangersMessage: string

beforeAll(async () => {
  real = await RealServer.start()
  const dir = join(real.home, 'project')
  await mkdir(dir)
  const query = `agent_profile=developer&provider=scripted&working_directory=${encodeURIComponent(dir)}`
  const make = async (path: string) => {
    const made = await real.ask('POST', path)
    expect([made.status, made.text]).toEqual([201, expect.any(String)])
    return made.body as TerminalBody
  }
  boss = await make(`/sessions?${query}&session_name=own`)
  stranger = await make(`/sessions?${query}&session_name=other`)
  worker = await make(`/sessions/${boss.session_name}/terminals?${query}&caller_id=${boss.id}`)
  helper = await make(`/sessions/${boss.session_name}/terminals?${query}&caller_id=${worker.id}`)
  const task = { kind: 'assign', agent_profile: 'developer', message: 'hang', reuse_terminal_id: stranger.id }
  strangersJob = ((await real.ask('POST', '/jobs', { body: task })).body as { id: string }).id
  const sent = await real.ask('POST', `/terminals/${stranger.id}/inbox/messages?message=private`)
  strangersMessage = String((sent.body as { message_id: number }).message_id)
})
afterAll(() => real[Symbol.asyncDispose]())

type Who = { readonly door: 'unix' | 'tcp'; readonly headers?: Readonly<Record<string, string>> }

/** Only the status: a stream of events never ends. An empty body, so that what is allowed is refused for what it lacks. */
function statusOf(route: string, target: { id?: string; name?: string }, who: Who, body?: unknown): Promise<number> {
  const [method = '', pattern = ''] = route.split(' ')
  const path = pattern
    .replace('/messages/:id', `/messages/${strangersMessage}`)
    .replace('/jobs/:id', `/jobs/${strangersJob}`)
    .replace(':id', target.id ?? stranger.id)
    .replace(/:\w+/, target.name ?? stranger.session_name)
  const where = who.door === 'unix' ? { socketPath: real.socketPath } : { host: '127.0.0.1', port: real.port }
  const payload = method === 'GET' ? '' : JSON.stringify(body ?? {})
  const told = { 'content-type': 'application/json', 'content-length': String(payload.length) }
  const headers = { ...(method === 'GET' ? {} : told), ...who.headers }
  return new Promise((resolve, reject) => {
    const sent = request({ ...where, method, path, headers, agent: false }, (answer) => {
      resolve(answer.statusCode ?? 0)
      answer.destroy()
    })
    sent.on('error', reject)
    sent.end(payload)
  })
}

const agent = async (id: string): Promise<Who> => ({
  door: 'unix',
  headers: { 'x-cao-capability': await real.capability(id) },
})
const bearer = (token: string): Who => ({ door: 'tcp', headers: { authorization: `Bearer ${token}` } })
const readOnly = async (): Promise<Who> => bearer(await real.readToken())
const withRight = (pick: (right: (typeof rights)[string]) => boolean) =>
  routes.filter((route) => rights[route] !== undefined && pick(rights[route]))
const isRefusal = (status: number): boolean => status === 401 || status === 403

test('every route has its line in the table of rights, and every line its route', () => {
  expect(routes.toSorted()).toEqual(Object.keys(rights).toSorted())
  expect(new Set(routes).size).toBe(routes.length)
})

describe('who has no token', () => {
  test.each(withRight(({ token }) => token !== 'none'))('is told nothing: %s', async (route) => {
    // So many refusals at once are themselves too many.
    expect([401, 429]).toContain(await statusOf(route, {}, { door: 'tcp' }))
  })
})

describe('the read-only token', () => {
  test.each(withRight(({ token }) => token !== 'full'))('looks: %s', async (route) => {
    expect(isRefusal(await statusOf(route, {}, await readOnly()))).toBe(false)
  })

  test.each(withRight(({ token }) => token === 'full'))('changes nothing: %s', async (route) => {
    expect(await statusOf(route, {}, await readOnly())).toBe(403)
  })
})

describe('an agent', () => {
  test.each(withRight(({ agent }) => agent === 'nobody'))('has no business with %s', async (route) => {
    const own = { id: boss.id, name: boss.session_name }
    expect(await statusOf(route, own, await agent(boss.id))).toBe(403)
  })

  test.each(withRight(({ agent }) => agent === 'all'))('may ask about all: %s', async (route) => {
    expect(isRefusal(await statusOf(route, {}, await agent(boss.id)))).toBe(false)
  })

  test.each(withRight(({ agent }) => ['reach', 'command', 'change'].includes(agent)))(
    'with another id than its own is refused: %s',
    async (route) => {
      expect(route).toContain('/terminals/:id')
      expect(await statusOf(route, { id: stranger.id }, await agent(boss.id))).toBe(403)
      expect(await statusOf(route, { id: boss.id }, await agent(stranger.id))).toBe(403)
    },
  )

  test.each(withRight(({ agent }) => agent === 'command' || agent === 'change'))(
    'does not rule over whom it works for, near or far: %s',
    async (route) => {
      const answers = [
        await statusOf(route, { id: boss.id }, await agent(worker.id)),
        await statusOf(route, { id: boss.id }, await agent(helper.id)),
      ]
      expect(answers).toEqual([403, 403])
    },
  )

  test.each(withRight(({ agent }) => agent === 'reach' || agent === 'change'))(
    'may do it to itself: %s',
    async (route) => {
      expect(isRefusal(await statusOf(route, { id: boss.id }, await agent(boss.id)))).toBe(false)
    },
  )

  test.each(withRight(({ agent }) => agent === 'command'))('may not do it to itself: %s', async (route) => {
    expect(await statusOf(route, { id: boss.id }, await agent(boss.id))).toBe(403)
  })
})

/** For each route on which an agent acts in its own name: every way in which a request can name somebody else. */
const forged: Readonly<Record<string, readonly ((other: TerminalBody) => unknown)[]>> = {
  'POST /sessions': [
    ({ id }) => ({ agent_profile: 'developer', caller_id: id }),
    ({ id }) => ({ agent_profile: 'developer', initial_message: 'x', initial_message_sender_id: id }),
  ],
  'POST /sessions/:name/terminals': [
    () => ({ agent_profile: 'developer' }),
    ({ id }) => ({ agent_profile: 'developer', caller_id: id }),
    ({ id }) => ({ agent_profile: 'developer', initial_message: 'x', initial_message_sender_id: id, defer_init: true }),
  ],
  'GET /messages/:id': [() => undefined],
  'POST /messages/:id/resend': [() => ({})],
  'POST /messages/:id/drop': [() => ({})],
  'POST /terminals/run-step': [
    ({ id }) => ({ agent: 'developer', prompt: 'x', caller_id: id }),
    ({ id }) => ({ agent: 'developer', prompt: 'x', reuse_terminal_id: id }),
    ({ session_name }) => ({ agent: 'developer', prompt: 'x', session_name }),
  ],
  'POST /jobs': [
    ({ id }) => ({ kind: 'assign', agent_profile: 'developer', message: 'x', caller_id: id }),
    ({ id }) => ({ kind: 'assign', agent_profile: 'developer', message: 'x', reuse_terminal_id: id }),
    ({ session_name }) => ({ kind: 'assign', agent_profile: 'developer', message: 'x', session_name }),
  ],
  'GET /jobs/:id': [() => undefined],
  'POST /jobs/:id/cancel': [() => ({})],
  'POST /jobs/:id/retry': [() => ({})],
  'POST /jobs/:id/report': [() => ({ status: 'done', result: 'x' })],
  'DELETE /worktrees/:id': [() => ({})],
}

describe('an agent that acts as another', () => {
  test('has a case here for every route that goes by who asks', () => {
    expect(Object.keys(forged).toSorted()).toEqual(withRight(({ agent }) => agent === 'own').toSorted())
  })

  test.each(Object.entries(forged).flatMap(([route, makers]) => makers.map((make) => [route, make] as const)))(
    'is refused: %s (%s)',
    async (route, make) => {
      expect(await statusOf(route, {}, await agent(boss.id), make(stranger))).toBe(403)
    },
  )

  test('can not sign a message with another name', async () => {
    const headers = { 'x-cao-capability': await real.capability(boss.id) }
    const path = `/terminals/${worker.id}/inbox/messages`
    const named = await real.ask('POST', path, { headers, body: { message: 'x', sender_id: stranger.id } })
    const user = await real.ask('POST', path, { headers, body: { message: 'x', sender_id: 'user' } })
    const input = await real.ask('POST', `/terminals/${worker.id}/input`, {
      headers,
      body: { message: 'x', sender_id: stranger.id },
    })
    expect([named.status, user.status, input.status]).toEqual([403, 403, 403])
  })

  test('has made no agent and changed none by all of this', async () => {
    const list = (await real.ask('GET', '/terminals')).body as TerminalBody[]
    expect(list.map(({ id, life }) => `${id} ${life}`).toSorted()).toEqual(
      [boss, worker, helper, stranger].map(({ id }) => `${id} live`).toSorted(),
    )
  })
})
