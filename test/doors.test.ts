/**
 * What every request meets before its route: the rules on pages and content types, the limits, the headers of each answer and the audit
 * log, on the whole real CAO with both doors.
 */
import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { TerminalBody } from '../src/protocol/terminal.ts'
import type { AuditEntry } from '../src/server/audit.ts'
import { tcpConnectionsMax } from '../src/server/listen.ts'
import { rateLimits } from '../src/server/rate-limit.ts'
import { eventually, RealServer } from './real-server.case.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 90_000 })

let real: RealServer
let agent: TerminalBody
let token: { authorization: string }

beforeAll(async () => {
  real = await RealServer.start()
  const scripted = { provider: 'scripted', working_directory: real.home }
  agent = await real.client.createSession({ agent_profile: 'developer', session_name: 'doors', ...scripted })
  token = { authorization: `Bearer ${await real.token()}` }
})
afterAll(() => real[Symbol.asyncDispose]())

type Raw = { readonly status: number; readonly headers: Readonly<Record<string, unknown>> }

/** Only the head, of a stream too; nothing is added to `headers`. */
function head(method: string, path: string, headers: Readonly<Record<string, string>>, body = ''): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: real.port, method, path, headers, agent: false }, (answer) => {
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers })
      answer.destroy()
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

const readAudit = async (): Promise<readonly AuditEntry[]> => {
  const text = await readFile(real.config.layout.auditFile, 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as AuditEntry)
}
const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string

describe('every answer', () => {
  test.each([
    ['a list', '/terminals', {}],
    ['a refusal', '/shutdown-all', { 'x-cao-capability': 'none' }],
    ['an unknown path', '/nowhere', {}],
    ['a foreign host', '/terminals', { host: 'evil.example' }],
    ['a stream', '/events', {}],
    ['what anybody may ask', '/health', {}],
  ])('is not to be guessed at, kept, framed or read by another page: %s', async (_what, path, headers) => {
    expect((await head('GET', path, { ...token, ...headers })).headers).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    })
  })
})

describe('what a page can send without being asked', () => {
  const path = () => `/terminals/${agent.id}/key?key=x`

  test.each([
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'key=Enter'],
    ['a form with files', { 'content-type': 'multipart/form-data; boundary=x' }, '--x--'],
    ['JSON called text', { 'content-type': 'text/plain' }, '{"key":"Enter"}'],
    ['JSON without a name', {}, '{"key":"Enter"}'],
    ['JSON whose name only begins so', { 'content-type': 'application/jsonx' }, '{"key":"Enter"}'],
    ['nothing, from another site', { 'sec-fetch-site': 'cross-site' }, ''],
    ['nothing, from another port', { 'sec-fetch-site': 'same-site' }, ''],
    ['nothing, with another origin', { origin: 'http://localhost.evil.example' }, ''],
  ])('is refused even with the token: %s', async (_what, headers, body) => {
    const length = { 'content-length': String(body.length) }
    expect((await head('POST', path(), { ...token, ...length, ...headers }, body)).status).toBe(403)
  })

  test('a body that is JSON, and none at all, are what programs send', async () => {
    const body = '{"key":"Escape"}'
    const told = { 'content-type': 'application/json; charset=utf-8', 'content-length': String(body.length) }
    const answers = [
      await head('POST', `/terminals/${agent.id}/key`, { ...token, ...told }, body),
      await head('POST', `/terminals/${agent.id}/key?key=Escape`, { ...token, 'content-length': '0' }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
  })

  test('no handshake of a WebSocket is taken, from wherever it comes', async () => {
    const origins = ['http://evil.example', 'null', 'http://localhost.evil.example', 'http://127.0.0.1:1', undefined]
    const statuses = await Promise.all(
      origins.flatMap((origin) =>
        ['/events', `/terminals/${agent.id}/ws`].map(async (at) => {
          const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
          const key = { 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' }
          const from = origin === undefined ? {} : { origin }
          return (await head('GET', at, { ...upgrade, ...key, ...from })).status
        }),
      ),
    )
    expect([...new Set(statuses)]).toEqual([401])
  })
})

describe('the audit log', () => {
  test('has a line for each change, by whomever and however it ended, and for each refusal', async () => {
    const before = (await readAudit()).length
    const headers = { 'x-cao-capability': await real.capability(agent.id) }
    const reader = { authorization: `Bearer ${await real.readToken()}` }
    await real.ask('POST', `/terminals/${agent.id}/inbox/messages`, { body: { message: 'a private word' } })
    await real.ask('GET', '/terminals')
    await real.ask('POST', '/shutdown-all?x=query', { headers })
    await real.ask('PATCH', `/terminals/${agent.id}/group`, { door: 'tcp', headers: reader, body: { group: null } })
    await real.ask('GET', '/terminals?secret=x', { door: 'tcp', headers: { host: 'evil.example' } })
    expect((await readAudit()).slice(before)).toEqual([
      {
        at,
        actor: 'person',
        door: 'unix',
        method: 'POST',
        route: '/terminals/:id/inbox/messages',
        target: agent.id,
        status: 200,
      },
      {
        at,
        actor: 'agent',
        terminal: agent.id,
        door: 'unix',
        method: 'POST',
        route: '/shutdown-all',
        status: 403,
        code: 'FORBIDDEN',
      },
      {
        at,
        actor: 'reader',
        door: 'tcp',
        method: 'PATCH',
        route: '/terminals/:id/group',
        target: agent.id,
        status: 403,
        code: 'FORBIDDEN',
      },
      { at, actor: 'nobody', door: 'tcp', method: 'GET', route: '/terminals', status: 400, code: 'BAD_REQUEST' },
    ])
  })
})

describe('limits', () => {
  test('whoever guesses tokens is slowed down, and the right token is not', async () => {
    const wrong = { authorization: 'Bearer wrong' }
    const guesses: Raw[] = []
    for (let i = 0; i < rateLimits.refused.burst + 10; i++) guesses.push(await head('GET', '/terminals', wrong))
    expect(guesses[0]?.status).toBe(401)
    expect(guesses.at(-1)).toMatchObject({
      status: 429,
      headers: { 'retry-after': expect.stringMatching(/^[1-9]\d*$/) },
    })
    expect((await head('GET', '/terminals', token)).status).toBe(200)
  })

  test('an agent that changes too much at once is told when to come again, and may go on looking', async () => {
    const headers = { 'x-cao-capability': await real.capability(agent.id) }
    const path = `/terminals/${agent.id}/inbox/messages`
    const { burst } = rateLimits.agentActs
    const answers = await Promise.all(
      Array.from({ length: burst + 60 }, () => real.ask('POST', path, { headers, body: {} })),
    )
    const limited = answers.filter(({ status }) => status === 429)
    expect(limited.length).toBeGreaterThan(0)
    expect(limited[0]?.body).toMatchObject({
      code: 'RATE_LIMITED',
      data: { retry_after_s: expect.any(Number) as unknown },
    })
    expect((await real.ask('GET', `/terminals/${agent.id}`, { headers })).status).toBe(200)
  })

  test('a person on the socket is never limited', async () => {
    const statuses = new Set<number>()
    for (let i = 0; i < 7; i++) {
      const asked = Array.from({ length: 100 }, () => real.ask('POST', '/terminals/00000000/key?key=x'))
      for (const { status } of await Promise.all(asked)) statuses.add(status)
    }
    expect([...statuses]).toEqual([404])
  })

  test('connections that other users hold open use up their own number and not the socket', async () => {
    const open: Socket[] = []
    let closed = 0
    for (let i = 0; i < tcpConnectionsMax + 20; i++) {
      const socket = connect(real.port, '127.0.0.1')
      socket.on('error', () => undefined).on('close', () => closed++)
      open.push(socket)
    }
    await eventually('the connections beyond the limit to be closed', async () => (closed >= 20 ? true : undefined))
    expect((await real.ask('GET', '/terminals')).status).toBe(200)
    for (const socket of open) socket.destroy()
    await eventually('the TCP door to be free again', async () =>
      (await head('GET', '/terminals', token).catch(() => undefined))?.status === 200 ? true : undefined,
    )
  })

  test('keeps a flood of refusals from pushing out what went before', async () => {
    const before = (await readAudit()).length
    for (let i = 0; i < 300; i++) await head('GET', '/terminals', {})
    expect((await readAudit()).length - before).toBeLessThan(150)
  })
})
