/**
 * What every route has at hand: the application, who asks, and how parameters, ids and waits are read from a request.
 */
import type { Context, Hono } from 'hono'
import type { z } from 'zod'
import type { Actor, App } from '../app/app.ts'
import type { Clock } from '../async/clock.ts'
import type { Waiting } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import {
  type JobId,
  parseJobId,
  parseSessionName,
  parseTerminalId,
  type SessionName,
  type TerminalId,
} from '../domain/ids.ts'
import type { Log } from '../lib/log.ts'
import { parseBody } from '../protocol/fields.ts'

/** Through which door a request came in. A unix socket's mode is its lock; TCP needs a token, or has none on purpose. */
export type Door = { readonly kind: 'unix' } | { readonly kind: 'tcp'; readonly token: string | undefined }

export type HttpEnv = {
  Bindings: { readonly door: Door }
  /** Undefined only on routes that need no actor. */
  Variables: { actor: Actor | undefined }
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

/** Query and JSON body as one set of parameters; the body wins. Names that the schema does not know are ignored. Errors: VALIDATION, BAD_REQUEST. */
export async function readParams<S extends z.ZodType>(c: HttpContext, schema: S): Promise<z.output<S>> {
  const text = await c.req.text()
  return parseBody(schema, { ...c.req.query(), ...parseObject(text) }, 'the request')
}

/** Errors: VALIDATION. */
export function readQuery<S extends z.ZodType>(c: HttpContext, schema: S): z.output<S> {
  return parseBody(schema, c.req.query(), 'the query')
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  if (text.trim() === '') return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new AppError('VALIDATION', 'the body is not valid JSON')
  }
  if (value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value))
    throw new AppError('VALIDATION', 'the body must be a JSON object')
  return value as Readonly<Record<string, unknown>>
}

/** Errors: VALIDATION. */
export function terminalIdOf(c: HttpContext): TerminalId {
  const id = parseTerminalId(c.req.param('id') ?? '')
  if (id === undefined) throw new AppError('VALIDATION', 'a terminal id is 8 hexadecimal digits')
  return id
}

/** Errors: BAD_REQUEST. */
export function sessionNameOf(c: HttpContext): SessionName {
  const name = parseSessionName(c.req.param('name') ?? '')
  if (name === undefined) {
    throw new AppError(
      'BAD_REQUEST',
      'a session name has letters, digits, "_" and "-", at most 64 with its "cao-" prefix',
    )
  }
  return name
}

/** Errors: VALIDATION. */
export function jobIdOf(c: HttpContext): JobId {
  const id = parseJobId(c.req.param('id') ?? '')
  if (id === undefined) throw new AppError('VALIDATION', 'a job id looks like job-0123456789abcdef')
  return id
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
