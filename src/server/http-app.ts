/**
 * The HTTP interface as one Hono app: what holds for every request stands here (the guard, body size,
 * errors), each resource in a file of `routes/`. `listen.ts` puts it on sockets. A new route is declared in a file there and listed in `routes.ts`.
 */
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { AppError } from '../domain/errors.ts'
import { toErrorBody } from '../protocol/error-body.ts'
import { bodyBytesMax } from '../protocol/version.ts'
import type { HttpContext, HttpEnv, Router, Services } from './context.ts'
import { renderError } from './error-response.ts'
import { createGuard, type GuardOptions } from './guard.ts'
import { mountRoutes } from './route.ts'
import { routes } from './routes.ts'

export type HttpAppOptions = Services & GuardOptions

export function createHttpApp(options: HttpAppOptions): Router {
  const router = new Hono<HttpEnv>()
  const fail = (c: HttpContext, error: unknown) => {
    const { status, body } = renderError(error, options.log, `${c.req.method} ${c.req.path}`)
    c.set('code', body.code)
    return c.json(body, status as ContentfulStatusCode)
  }
  router.onError((error, c) => fail(c, error))
  router.notFound((c) =>
    c.json(toErrorBody(new AppError('NOT_FOUND', `there is no ${c.req.method} ${c.req.path}`)), 404),
  )

  router.use(...createGuard(options))
  router.use(
    bodyLimit({
      maxSize: bodyBytesMax,
      onError: (c) => fail(c, new AppError('TOO_LARGE', `a request body has at most ${bodyBytesMax} bytes`)),
    }),
  )

  mountRoutes(router, routes, options)
  return router
}
