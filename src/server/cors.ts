/**
 * What pages of other origins may see: those that `CAO_CORS_ORIGINS` lists are answered with the headers that let their scripts read, and their
 * preflights are granted; anybody else's are refused, as upstream does. Whether such a page may change something is `origin.ts`.
 * A preflight carries no token, so it is answered before anybody is asked who he is; it tells nothing but this rule.
 */
import type { MiddlewareHandler } from 'hono'
import { AppError } from '../domain/errors.ts'
import type { HttpEnv } from './context.ts'
import { isHostAllowed, isOriginAllowed, type OriginRules } from './origin.ts'

const methods = 'GET, POST, PATCH, PUT, DELETE'
/** How long a browser may keep our answer. Units: s. */
const preflightAgeS = 600

/** Errors: BAD_REQUEST for the preflight of a page that is not listed. */
export function cors(rules: OriginRules): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const origin = c.req.header('origin')
    const host = c.req.header('host')
    const isKnownHost = c.env.door.kind === 'unix' || isHostAllowed(host, rules)
    if (origin === undefined || !isKnownHost) return next()
    const isListed = isOriginAllowed({ method: 'POST', origin, host }, rules)
    c.header('vary', 'Origin')
    if (isListed) c.header('access-control-allow-origin', origin)
    const isPreflight = c.req.method === 'OPTIONS' && c.req.header('access-control-request-method') !== undefined
    if (!isPreflight) return next()
    if (!isListed) throw new AppError('BAD_REQUEST', 'Disallowed CORS origin')
    c.header('access-control-allow-methods', methods)
    c.header('access-control-allow-headers', c.req.header('access-control-request-headers') ?? '')
    c.header('access-control-max-age', String(preflightAgeS))
    return c.text('OK')
  }
}
