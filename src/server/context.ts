/**
 * What every route has at hand: the application, who asks, and how long to wait. How a route is declared is `route.ts`.
 */
import type { Context, Hono } from 'hono'
import type { Actor, App } from '../app/app.ts'
import type { Clock } from '../async/clock.ts'
import type { Waiting } from '../async/wait.ts'
import { AppError, type ErrorCode } from '../domain/errors.ts'
import type { Log } from '../lib/log.ts'

/** Through which door a request came in. A unix socket's mode is its lock; TCP needs a token, or has none on purpose. */
export type Door =
  | { readonly kind: 'unix' }
  | {
      readonly kind: 'tcp'
      readonly token: string | undefined
      /** Shows everything and changes nothing. */
      readonly readToken?: string
    }

export type HttpEnv = {
  Bindings: { readonly door: Door }
  /** Undefined only on routes that need no actor. */
  Variables: {
    actor: Actor | undefined
    /** It passed the guard. */
    isAdmitted?: boolean
    /** Refused for the number of requests, and not the first of these refusals. */
    isRepeated?: boolean
    /** Of what it was answered with, when that is a refusal or a fault. */
    code?: ErrorCode
  }
}
export type HttpContext = Context<HttpEnv>
export type Router = Hono<HttpEnv>

/** What the routes need from outside. */
export type Services = {
  readonly app: App
  readonly clock: Clock
  readonly log: Log
  /** Of the program, for `GET /health`. */
  readonly version: string
  /** Aborts when the server is about to stop: streams and held requests end. */
  readonly closing: AbortSignal
}

/** Errors: UNAUTHORIZED. */
export function requireActor(c: HttpContext): Actor {
  const actor = c.get('actor')
  if (actor === undefined) throw new AppError('UNAUTHORIZED', 'this needs a token: Authorization: Bearer TOKEN')
  return actor
}

/** For waits that serve only this client: over when it leaves or the server stops. */
export function clientWaiting(c: HttpContext, { closing }: Services): Waiting {
  const controller = new AbortController()
  const gone = () => controller.abort(new AppError('CONFLICT', 'the client went away'))
  const stop = () =>
    controller.abort(new AppError('SERVER_UNREACHABLE', 'the server is stopping; ask again when it is back'))
  if (c.req.raw.signal.aborted) gone()
  if (closing.aborted) stop()
  c.req.raw.signal.addEventListener('abort', gone, { once: true, signal: controller.signal })
  closing.addEventListener('abort', stop, { once: true, signal: controller.signal })
  return { signal: controller.signal }
}

/** For actions that go on when their client leaves; the use case bounds them itself. */
export function actionWaiting(): Waiting {
  return { signal: new AbortController().signal }
}
