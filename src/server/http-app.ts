/**
 * The HTTP interface as one Hono app: what holds for every request stands here (host, origin, identity, body size,
 * errors), each resource in a file of `routes/`. `listen.ts` puts it on sockets. A new route is declared in a file there and listed in `routes.ts`.
 */
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { AppError } from '../domain/errors.ts'
import { toErrorBody } from '../protocol/error-body.ts'
import { bodyBytesMax, capabilityHeader } from '../protocol/version.ts'
import { type CapabilityBook, identify } from './auth.ts'
import type { HttpContext, HttpEnv, Router, Services } from './context.ts'
import { renderError } from './error-response.ts'
import { isHostAllowed, isOriginAllowed, type OriginRules } from './origin.ts'
import { mountRoutes } from './route.ts'
import { routes } from './routes.ts'

export type HttpAppOptions = Services & { readonly capabilities: CapabilityBook; readonly rules: OriginRules }

/** Answers to anybody: a probe must tell a running server from none. */
const openPaths = new Set(routes.filter(({ access }) => access === 'open').map(({ pattern }) => pattern))

export function createHttpApp(options: HttpAppOptions): Router {
  const router = new Hono<HttpEnv>()
  const fail = (c: HttpContext, error: unknown) => {
    const { status, body } = renderError(error, options.log, `${c.req.method} ${c.req.path}`)
    return c.json(body, status as ContentfulStatusCode)
  }
  router.onError((error, c) => fail(c, error))
  router.notFound((c) =>
    c.json(toErrorBody(new AppError('NOT_FOUND', `there is no ${c.req.method} ${c.req.path}`)), 404),
  )

  router.use(async (c, next) => {
    const host = c.req.header('host')
    if (c.env.door.kind === 'tcp' && !isHostAllowed(host, options.rules)) {
      throw new AppError('BAD_REQUEST', 'Invalid host header')
    }
    if (!isOriginAllowed({ method: c.req.method, origin: c.req.header('origin'), host }, options.rules)) {
      throw new AppError('FORBIDDEN', 'Cross-origin request blocked')
    }
    c.set('actor', actorOf(c, options.capabilities))
    await next()
  })
  router.use(
    bodyLimit({
      maxSize: bodyBytesMax,
      onError: (c) => fail(c, new AppError('TOO_LARGE', `a request body has at most ${bodyBytesMax} bytes`)),
    }),
  )

  mountRoutes(router, routes, options)
  return router
}

function actorOf(c: HttpContext, book: CapabilityBook) {
  const authorization = c.req.header('authorization')
  const capability = c.req.header(capabilityHeader)
  try {
    return identify({ door: c.env.door, authorization, capability }, book)
  } catch (error) {
    if (openPaths.has(c.req.path) && error instanceof AppError) return undefined
    throw error
  }
}
