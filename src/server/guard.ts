/**
 * What every request passes before its route, in this order: host, page (origin, fetch metadata, content type), who asks, how often, and
 * may this token change anything. What a route asks of an agent is its `access`. Around it: the headers of every answer, and the audit log.
 */
import type { MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import type { Actor } from '../app/app.ts'
import type { Clock } from '../async/clock.ts'
import { AppError } from '../domain/errors.ts'
import { capabilityHeader } from '../protocol/version.ts'
import { type Audit, auditTargetLengthMax, describeActor } from './audit.ts'
import { type CapabilityBook, identify } from './auth.ts'
import type { HttpContext, HttpEnv } from './context.ts'
import { isForeignPage, isHostAllowed, type OriginRules } from './origin.ts'
import { type RateKey, RateLimiter } from './rate-limit.ts'
import { routes } from './routes.ts'

export type GuardOptions = {
  readonly clock: Clock
  readonly capabilities: CapabilityBook
  readonly rules: OriginRules
  readonly audit: Audit
}

/** No answer of ours is a page, may be kept, guessed at, framed, or read by a page of another origin. */
const answerHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

/** A probe must tell a running server from none. */
const openRoutes: ReadonlySet<string> = new Set(routes.filter(({ access }) => access === 'open').map(({ at }) => at))
const refusals = new Set([401, 403, 429])
const isReading = (method: string): boolean => method === 'GET' || method === 'HEAD'

export function createGuard(options: GuardOptions): readonly MiddlewareHandler<HttpEnv>[] {
  const limiter = new RateLimiter(options.clock)
  return [
    async (c, next) => {
      await next()
      // A route that answers with a page of its own says what that page may do.
      for (const [name, value] of Object.entries(answerHeaders)) if (!c.res.headers.has(name)) c.header(name, value)
      record(c, options)
    },
    async (c, next) => {
      try {
        admit(c, options, limiter)
      } catch (error) {
        if (c.get('actor') === undefined) takePermit(c, limiter, `refused ${c.env.door.kind}`)
        throw error
      }
      c.set('isAdmitted', true)
      await next()
    },
  ]
}

/** Errors: BAD_REQUEST, FORBIDDEN, UNAUTHORIZED, RATE_LIMITED. */
function admit(c: HttpContext, { capabilities, rules }: GuardOptions, limiter: RateLimiter): void {
  const { method } = c.req
  const host = c.req.header('host')
  if (c.env.door.kind === 'tcp' && !isHostAllowed(host, rules)) {
    throw new AppError('BAD_REQUEST', 'Invalid host header')
  }
  const page = {
    method,
    host,
    origin: c.req.header('origin'),
    site: c.req.header('sec-fetch-site'),
    mode: c.req.header('sec-fetch-mode'),
    destination: c.req.header('sec-fetch-dest'),
  }
  if (isForeignPage(page, rules)) throw new AppError('FORBIDDEN', 'Cross-origin request blocked')
  requireJson(c)
  const route = routeOf(c)
  const actor = actorOf(c, capabilities, route)
  c.set('actor', actor)
  const key = rateKeyOf(c, actor)
  if (key !== undefined) takePermit(c, limiter, key)
  if (actor?.kind === 'person' && actor.mayOnlyRead === true && !isReading(method)) {
    throw new AppError('FORBIDDEN', 'this token may only read: what changes something needs the full one')
  }
}

/** `METHOD /path/:id` as it is registered; undefined for what is no route. The first match is the one that answers. */
function routeOf(c: HttpContext): string | undefined {
  const match = matchedRoutes(c).find(({ method }) => method !== 'ALL')
  return match === undefined ? undefined : `${match.method} ${match.path}`
}

/** A page can send a form or plain text anywhere without being asked about it; JSON it can not. Errors: FORBIDDEN. */
function requireJson(c: HttpContext): void {
  if (isReading(c.req.method)) return
  const hasBody = (c.req.header('content-length') ?? '0') !== '0' || c.req.header('transfer-encoding') !== undefined
  const type = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type === 'application/json' || (!hasBody && type === undefined)) return
  throw new AppError('FORBIDDEN', 'a body must be sent as Content-Type: application/json')
}

/** Undefined: nobody, where that may ask. Errors: UNAUTHORIZED. */
function actorOf(c: HttpContext, book: CapabilityBook, route: string | undefined): Actor | undefined {
  const authorization = c.req.header('authorization')
  const capability = c.req.header(capabilityHeader)
  try {
    return identify({ door: c.env.door, authorization, capability }, book)
  } catch (error) {
    if (error instanceof AppError && openRoutes.has(route ?? '')) return undefined
    throw error
  }
}

function rateKeyOf(c: HttpContext, actor: Actor | undefined): RateKey | undefined {
  const door = c.env.door.kind
  if (actor === undefined) return `probes ${door}`
  if (actor.kind === 'terminal') return `${isReading(c.req.method) ? 'agentReads' : 'agentActs'} ${actor.id}`
  return door === 'tcp' ? 'people tcp' : undefined
}

/** Errors: RATE_LIMITED. */
function takePermit(c: HttpContext, limiter: RateLimiter, key: RateKey): void {
  const { waitMs, isNew } = limiter.take(key)
  if (waitMs === 0) return
  const waitS = Math.ceil(waitMs / 1_000)
  c.header('retry-after', String(waitS))
  c.set('isRepeated', !isNew)
  const sentence = `too many requests at once: ask again in ${waitS} s`
  throw new AppError('RATE_LIMITED', sentence, { data: { retry_after_s: waitS } })
}

/** Whoever floods us must not push older lines out of the log: of refusals for their number only the first in a row is kept. */
function record(c: HttpContext, { audit, clock }: GuardOptions): void {
  const { status } = c.res
  const isRefused = c.get('isAdmitted') !== true || refusals.has(status)
  if ((isReading(c.req.method) && !isRefused) || c.get('isRepeated') === true) return
  const [, route = 'none'] = (routeOf(c) ?? '').split(' ')
  const target = targetOf(route, c.req.path)
  const code = c.get('code')
  audit({
    at: new Date(clock.nowMs()).toISOString(),
    ...describeActor(c.get('actor')),
    door: c.env.door.kind,
    method: c.req.method,
    route,
    ...(target === '' ? {} : { target }),
    status,
    ...(code === undefined ? {} : { code }),
  })
}

/** What stands in `path` for the parameters of `route`, as it was written (percent signs and all). Pure. */
function targetOf(route: string, path: string): string {
  const parts = path.split('/')
  const values = route.split('/').flatMap((part, index) => (part.startsWith(':') ? [parts[index] ?? ''] : []))
  return values.join(' ').slice(0, auditTargetLengthMax)
}
