/**
 * How a route is declared: once, with everything that holds for it. From the one declaration come the Hono route, the check of what comes
 * in, the type of what goes out, the entry in the OpenAPI document (`openapi.ts`) and its row in `docs/http.md`.
 *
 * A declaration says: `at` (method and path), one sentence, the parts of the path, the parameters, the answer, and the codes that this
 * route adds to those that follow from its shape (`impliedErrors`). Parameters are one set: each may stand in the query, as
 * upstream's clients send it, or in a JSON body, and the body wins. Names that are not declared are ignored, as upstream does.
 *
 * Order of the checks: who asks, the path, may this one (`access`), the parameters. So a stranger learns nothing by wrong parameters.
 */
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { z } from 'zod'
import type { Actor, App } from '../app/app.ts'
import { AppError, type ErrorCode } from '../domain/errors.ts'
import { parseBody } from '../protocol/fields.ts'
import { requireChange, requireCommand, requirePerson, requireReach } from './access.ts'
import { type HttpContext, type Router, requireActor, type Services } from './context.ts'
import { type PathPart, terminalIdPart } from './path-parts.ts'

/** `open`: anybody, even without a token. `any`: whoever is known. `reach`, `command`, `change`: of the terminal `:id`. See `access.ts`. */
export type Access = 'open' | 'any' | 'reach' | 'command' | 'change' | 'person'
export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

type PathParts = Readonly<Record<string, PathPart<unknown>>>
type PathValues<P extends PathParts> = { readonly [K in keyof P]: P[K] extends PathPart<infer T> ? T : never }

/** What a handler is given. `actor` throws UNAUTHORIZED on an open route that nobody known has called. */
export type RouteCall<P extends PathParts, Q extends z.ZodObject> = {
  readonly app: App
  readonly services: Services
  readonly c: HttpContext
  readonly actor: Actor
  readonly path: PathValues<P>
  readonly params: z.output<Q>
}

/** What of a declaration is read by the document. */
export type RouteFacts = {
  /** Method and path as Hono spells it: `GET /terminals/:id`. */
  readonly at: `${Method} /${string}`
  /** One sentence in the third person, without a full stop: `Queues a message`. */
  readonly summary: string
  /** What a caller must know beyond it: units, waits, what is never done. */
  readonly description?: string
  /** Path and fields are upstream's. */
  readonly isUpstream?: boolean
  readonly access: Access
  /** What the route itself may answer beyond `impliedErrors`. */
  readonly errors?: readonly ErrorCode[]
  /** Default 200. 404: never anything else. */
  readonly status?: 200 | 201 | 404
}
type Schemas<P extends PathParts, Q extends z.ZodObject, A extends z.ZodType> = {
  /** A reader for each `:name` of the path. */
  readonly path?: P
  readonly params?: Q
  /** JSON that is answered; or the content type of what the handler answers as a Response. */
  readonly answer: A | `${string}/${string}`
}
type Handler<P extends PathParts, Q extends z.ZodObject, A extends z.ZodType> = {
  readonly handle: (call: RouteCall<P, Q>) => z.input<A> | Response | Promise<z.input<A> | Response>
}

export type Route = RouteFacts & {
  readonly method: Method
  /** With `:name`. */
  readonly pattern: string
  readonly path: PathParts
  readonly params: z.ZodObject | undefined
  readonly answer: z.ZodType | string
  readonly respond: (c: HttpContext, services: Services) => Promise<Response>
}

export function route<
  P extends PathParts = {},
  Q extends z.ZodObject = z.ZodObject<{}>,
  A extends z.ZodType = z.ZodType,
>(declared: RouteFacts & Schemas<P, Q, A> & Handler<P, Q, A>): Route {
  const { handle, params, path = {}, ...facts } = declared
  const [method, pattern] = facts.at.split(' ') as [Method, string]
  const respond = async (c: HttpContext, services: Services): Promise<Response> => {
    if (facts.access !== 'open') requireActor(c)
    const values = readPath(c, path)
    requireAccess(facts.access, c, services.app)
    const given = params === undefined ? {} : await readParams(c, params)
    const call = {
      app: services.app,
      services,
      c,
      path: values as PathValues<P>,
      params: given as z.output<Q>,
      get actor() {
        return requireActor(c)
      },
    }
    const answer = await handle(call)
    if (answer instanceof Response) return answer
    return c.json(answer as object, (facts.status ?? 200) as ContentfulStatusCode)
  }
  return { ...facts, method, pattern, path, params, respond }
}

/** Registers them so that a literal path comes before a pattern that would match it too. Owns: nothing. */
export function mountRoutes(router: Router, routes: readonly Route[], services: Services): void {
  const order = ({ pattern }: Route) => pattern.replaceAll(':', '\uffff')
  const sorted = routes.toSorted((a, b) => (order(a) < order(b) ? -1 : 1))
  for (const { method, pattern, respond } of sorted) router.on(method, pattern, (c) => respond(c, services))
}

/** Codes that follow from the shape of a route, beside those that meet every request (a foreign host or page, too many at once). Pure. */
export function impliedErrors({ method, access, path, params }: Route): readonly ErrorCode[] {
  const codes: ErrorCode[] = []
  if (access !== 'open') codes.push('UNAUTHORIZED')
  if (method !== 'GET' || ['reach', 'command', 'change', 'person'].includes(access)) codes.push('FORBIDDEN')
  if (['reach', 'command', 'change'].includes(access)) codes.push('NOT_FOUND')
  for (const part of Object.values(path)) codes.push(part.code)
  if (params !== undefined && (hasBody(method) || Object.keys(params.shape).length > 0)) codes.push('VALIDATION')
  if (params !== undefined && hasBody(method)) codes.push('TOO_LARGE')
  return [...new Set(codes)]
}

export const hasBody = (method: Method): boolean => method !== 'GET' && method !== 'DELETE'

/** Errors: as the parts say. */
function readPath(c: HttpContext, parts: PathParts): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, part.parse(c.req.param(name) ?? '')]))
}

/** Errors: FORBIDDEN, NOT_FOUND. */
function requireAccess(access: Access, c: HttpContext, app: App): void {
  if (access === 'person') return requirePerson(requireActor(c))
  if (access === 'open' || access === 'any') return
  const id = terminalIdPart.parse(c.req.param('id') ?? '')
  const check = { reach: requireReach, command: requireCommand, change: requireChange }[access]
  check(app, requireActor(c), id)
}

/** Query and JSON body as one set; the body wins. Errors: VALIDATION. */
async function readParams(c: HttpContext, schema: z.ZodObject): Promise<Readonly<Record<string, unknown>>> {
  if (!hasBody(c.req.method as Method)) return parseBody(schema, c.req.query(), 'the query')
  return parseBody(schema, { ...c.req.query(), ...parseObject(decode(await c.req.arrayBuffer())) }, 'the request')
}

/** What is no UTF-8 would reach an agent as another text than was sent. Errors: VALIDATION. */
function decode(body: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new AppError('VALIDATION', 'the body is not UTF-8')
  }
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
