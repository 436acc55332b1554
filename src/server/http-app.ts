/**
 * The HTTP interface as one Hono app: what holds for every request stands here (the guard, body size,
 * errors), each resource in a file of `routes/`. `listen.ts` puts it on sockets. A new route is declared in a file there and listed in `routes.ts`.
 */
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { AppError } from '../domain/errors.ts'
import { bodyBytesMax } from '../protocol/version.ts'
import type { HttpContext, HttpEnv, Router, Services } from './context.ts'
import { cors } from './cors.ts'
import { renderError } from './error-response.ts'
import { createGuard, type GuardOptions } from './guard.ts'
import { createMethodsOf } from './known-methods.ts'
import { mountRoutes } from './route.ts'
import { routes } from './routes.ts'

export type HttpAppOptions = Services & GuardOptions

const methodsOf = createMethodsOf(routes)

export function createHttpApp(options: HttpAppOptions): Router {
  const router = new Hono<HttpEnv>()
  const fail = (c: HttpContext, error: unknown) => {
    const { status, body } = renderError(error, options.log, `${c.req.method} ${c.req.path}`)
    c.set('code', body.code)
    const retryAfterS = body.data?.['retry_after_s']
    if (typeof retryAfterS === 'number') c.header('retry-after', String(retryAfterS))
    return c.json(body, status as ContentfulStatusCode)
  }
  router.onError((error, c) => fail(c, error))
  router.notFound((c) => fail(c, refusalOf(c)))
  router.use(cors(options.rules))

  router.use(...createGuard(options))
  router.use(async (c, next) => {
    // As upstream. Hono would run the handler of GET, and nobody would read what it streams.
    if (c.req.method === 'HEAD') throw refusalOf(c)
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

/** Of a request that no route takes. */
function refusalOf(c: HttpContext): AppError {
  const { method, path } = c.req
  const methods = methodsOf(path)
  if (methods.length === 0) return new AppError('NOT_FOUND', `there is no ${method} ${path}`)
  c.header('allow', methods.join(', '))
  return new AppError('METHOD_NOT_ALLOWED', `there is no ${method} ${path}: it takes ${methods.join(' and ')}`)
}
