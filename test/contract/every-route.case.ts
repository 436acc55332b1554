/** What holds for every route by its shape: asked of each one that is declared, so that a new route is held to it too. */
import { describe, expect, test } from 'vitest'
import type { ErrorCode } from '../../src/domain/errors.ts'
import type { TerminalBody } from '../../src/protocol/terminal.ts'
import { errorsByStatus } from '../../src/server/openapi.ts'
import { hasBody, type Route } from '../../src/server/route.ts'
import { routes } from '../../src/server/routes.ts'
import type { Contract } from './contract.case.ts'

const answers = (code: ErrorCode) => (route: Route) => [...errorsByStatus(route).values()].flat().includes(code)
const hasPath = ({ pattern }: Route) => pattern.includes(':')
const isGet = ({ method }: Route) => method === 'GET'
const readsQuery = (route: Route) => route.params !== undefined && !hasBody(route.method)

/** What can not be: by the beginning of the pattern, a text for its `:name`, and the refusal. */
const impossible: readonly (readonly [string, string, number, string])[] = [
  ['/terminals/:id', 'x', 422, 'a terminal id is 8 hexadecimal digits'],
  [
    '/sessions/:name',
    'a%20b',
    400,
    'a session name has letters, digits, "_" and "-", at most 64 with its "cao-" prefix',
  ],
  ['/jobs/:id', '7', 422, 'a job id looks like job-0123456789abcdef'],
  ['/messages/:id', '0', 422, 'a message id is a positive whole number'],
  ['/worktrees/:id', 'x', 422, 'a terminal id is 8 hexadecimal digits'],
]
/** What could be and is not. */
const absent: Readonly<Record<string, string>> = {
  '/terminals/:id': '00000000',
  '/sessions/:name': 'cao-nowhere',
  '/jobs/:id': 'job-0000000000000000',
  '/messages/:id': '999999999',
  '/worktrees/:id': '00000000',
  '/skills/:name': 'nothing',
  '/agents/profiles/:name': 'nobody',
}
/** Parameters without which a route does not come so far as to look. */
const needed: Readonly<Record<string, string>> = {
  'POST /terminals/:id/command': 'command=/x',
  'POST /sessions/:name/terminals': 'agent_profile=developer&provider=scripted',
  'POST /jobs/:id/report': 'status=done&result=x',
}
/** For each route that reads a query: a value that its first parameter can not have. */
const badQuery = (route: Route): string => {
  const [name = ''] = Object.keys(route.params?.shape ?? {})
  return `${name}=${'no%20such'.repeat(1_000)}`
}

const withPart = (route: Route, parts: Readonly<Record<string, string>>): string => {
  const [kind, part] = Object.entries(parts).find(([start]) => route.pattern.startsWith(start)) ?? []
  return kind === undefined ? route.pattern : route.pattern.replace(/:\w+/, part ?? '')
}

export function everyRoute(contract: () => Contract): void {
  const ask: Contract['ask'] = (method, path, how) => contract().ask(method, path, how)
  let own: TerminalBody
  let parts: Readonly<Record<string, string>>
  const prepare = async () => {
    if (own !== undefined) return
    own = await contract().createAgent()
    const sent = (await ask('POST', `/terminals/${own.id}/inbox/messages?message=x`)).body as { message_id: number }
    const body = { kind: 'assign', agent_profile: 'developer', message: 'x', reuse_terminal_id: own.id }
    const job = (await ask('POST', '/jobs', { body })).body as { id: string }
    parts = {
      '/terminals/:id': own.id,
      '/sessions/:name': own.session_name,
      '/jobs/:id': job.id,
      '/messages/:id': String(sent.message_id),
      '/worktrees/:id': own.id,
    }
  }

  describe('every route', () => {
    test.each(routes.filter(answers('UNAUTHORIZED')))('needs the token on TCP: $at', async (route) => {
      const answer = await ask(route.method, withPart(route, absent), { door: 'tcp' })
      expect([answer.status, answer.body]).toEqual([
        401,
        { detail: 'this needs a token: Authorization: Bearer TOKEN', code: 'UNAUTHORIZED' },
      ])
    })

    test.each(routes.filter((route) => !isGet(route)))(
      'changes nothing for the read-only token: $at',
      async (route) => {
        const headers = { authorization: `Bearer ${await contract().real.readToken()}` }
        const answer = await ask(route.method, withPart(route, absent), { door: 'tcp', headers })
        expect([answer.status, answer.body]).toEqual([
          403,
          { detail: 'this token may only read: what changes something needs the full one', code: 'FORBIDDEN' },
        ])
      },
    )

    test.each(routes.filter(({ access, method }) => method === 'GET' && access === 'person'))(
      'for people is closed to agents: $at',
      async (route) => {
        await prepare()
        const headers = { 'x-cao-capability': await contract().real.capability(own.id) }
        const answer = await ask(route.method, withPart(route, parts), { headers })
        expect([answer.status, answer.body]).toEqual([
          403,
          { detail: 'only a person may do this, not an agent', code: 'FORBIDDEN' },
        ])
      },
    )

    test.each(routes.filter((route) => isGet(route) && route.access !== 'person' && answers('FORBIDDEN')(route)))(
      'tells an agent nothing of strangers: $at',
      async (route) => {
        await prepare()
        const stranger = await contract().createAgent()
        const headers = { 'x-cao-capability': await contract().real.capability(stranger.id) }
        const answer = await ask(route.method, withPart(route, parts), { headers })
        expect([answer.status, answer.body]).toMatchObject([403, { code: 'FORBIDDEN' }])
        await ask('DELETE', `/sessions/${stranger.session_name}`)
      },
    )

    test.each(routes.filter((route) => impossible.some(([start]) => route.pattern.startsWith(start))))(
      'says what its path can not be: $at',
      async (route) => {
        const [, part = '', status, detail] = impossible.find(([start]) => route.pattern.startsWith(start)) ?? []
        const answer = await ask(route.method, route.pattern.replace(/:\w+/, part))
        expect([answer.status, answer.body]).toMatchObject([status, { detail }])
      },
    )

    test.each(routes.filter((route) => hasPath(route) && withPart(route, absent) !== route.pattern))(
      'says when there is no such thing: $at',
      async (route) => {
        const answer = await ask(route.method, `${withPart(route, absent)}?${needed[route.at] ?? ''}`)
        expect([answer.status, answer.body]).toMatchObject([404, { code: 'NOT_FOUND' }])
      },
    )

    test.each(routes.filter(readsQuery))(
      'refuses a query that it can not read, and does not repeat it: $at',
      async (route) => {
        await prepare()
        const answer = await ask(route.method, `${withPart(route, parts)}?${badQuery(route)}`)
        expect([answer.status, answer.body]).toMatchObject([
          422,
          {
            code: 'VALIDATION',
            detail: expect.stringMatching(/^the query is not valid: \w+: must .{1,80}$/) as unknown,
          },
        ])
      },
    )

    test.each(routes.filter((route) => route.params !== undefined && hasBody(route.method)))(
      'refuses a body that is no JSON, or too large, before anything happens: $at',
      async (route) => {
        await prepare()
        const path = withPart(route, parts)
        const broken = await ask(route.method, path, { raw: '{' })
        expect([broken.status, broken.body]).toEqual([
          422,
          { detail: 'the body is not valid JSON', code: 'VALIDATION' },
        ])
        const large = await ask(route.method, path, { raw: ' '.repeat(8 * 1024 * 1024 + 1) })
        expect([large.status, large.body]).toEqual([
          413,
          { detail: 'a request body has at most 8388608 bytes', code: 'TOO_LARGE' },
        ])
      },
    )

    test.each([...new Set(routes.map(({ pattern }) => pattern))])('takes no other method: %s', async (pattern) => {
      const known = routes.filter((route) => route.pattern === pattern)
      const path = withPart(known[0] as Route, absent)
      for (const method of ['HEAD', 'OPTIONS', 'PUT'].filter((name) => !known.some((route) => route.method === name))) {
        const answer = await ask(method, path)
        expect([method, answer.status]).toEqual([method, 405])
        const allowed = (answer.headers['allow'] ?? '').split(', ')
        expect(allowed).toEqual(expect.arrayContaining(known.map((route) => route.method)))
        if (method === 'HEAD') expect(answer.text).toBe('')
        else expect(answer.body).toMatchObject({ code: 'METHOD_NOT_ALLOWED', detail: text405(method, path, allowed) })
      }
    })
  })
}

const text405 = (method: string, path: string, allowed: readonly string[]): string =>
  `there is no ${method} ${path}: it takes ${allowed.join(' and ')}`
