/**
 * The OpenAPI 3.1 document of the HTTP interface, from the declarations of its routes alone: pure. It is served at `/openapi.json` and
 * checked in as `docs/openapi.json`; `npm run openapi` writes it again, and a test compares the two.
 *
 * Parameters are one set. What a query can carry is told as query parameters; where a request has a body, all of them are told as its
 * fields too. So that either place is legal by the document, what must be given is not `required` there but named in `x-required`.
 */
import { z } from 'zod'
import { type ErrorCode, errorTable } from '../domain/errors.ts'
import { errorSchema } from '../protocol/error-schema.ts'
import { capabilityHeader, defaultPort, serviceName } from '../protocol/version.ts'
import { hasBody, impliedErrors, type Route } from './route.ts'

export type Json = { readonly [name: string]: unknown }
export type OpenApiDocument = Json & { readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>> }

const description = [
  'Over TCP every request needs the token of the server, but for those that say otherwise; on the Unix socket a person needs none.',
  'An agent shows its capability and then acts only as itself. A parameter may stand in the query or in a JSON body; the body wins.',
  'Any request may be refused for its Host (400 BAD_REQUEST), as a foreign page (403 FORBIDDEN) or for its rate (429 RATE_LIMITED).',
  'Faults of the machine (backend gone or silent, disk full, a bug) come as 5xx with a code. The default answer tells of all these.',
].join(' ')

export function describeApi(routes: readonly Route[], version: string): OpenApiDocument {
  const components: Record<string, unknown> = {}
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of routes) {
    const template = templateOf(route.pattern)
    paths[template] = { ...paths[template], [route.method.toLowerCase()]: describeRoute(route, components) }
  }
  const reference = schemaOf(errorSchema, 'output', components)
  const securitySchemes = {
    token: { type: 'http', scheme: 'bearer', description: 'The text of CAO_HOME/run/token.' },
    capability: { type: 'apiKey', in: 'header', name: capabilityHeader, description: 'The secret of one agent.' },
  }
  return {
    openapi: '3.1.0',
    info: { title: serviceName, version, description, license: { name: 'Apache 2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: `http://127.0.0.1:${defaultPort}` }],
    security: [{ token: [] }, { capability: [] }],
    paths,
    components: {
      schemas: sortKeys(components),
      responses: { Fault: { description: 'A fault.', content: { 'application/json': { schema: reference } } } },
      securitySchemes,
    },
  }
}

/** `/terminals/:id` as `/terminals/{id}`. */
export const templateOf = (pattern: string): string => pattern.replaceAll(/:(\w+)/g, '{$1}')

/** All codes that a route answers beside faults of the machine, by their HTTP status. */
export function errorsByStatus(route: Route): ReadonlyMap<number, readonly ErrorCode[]> {
  const codes = [...new Set([...impliedErrors(route), ...(route.errors ?? [])])]
  const statuses = [...new Set(codes.map((code) => errorTable[code].httpStatus))].toSorted((a, b) => a - b)
  return new Map(statuses.map((status) => [status, codes.filter((code) => errorTable[code].httpStatus === status)]))
}

export type Parameter = {
  readonly name: string
  readonly schema: Json
  readonly isRequired: boolean
  /** A text in a query can be read as it. */
  readonly isInQuery: boolean
}

export function parametersOf({ params }: Route): readonly Parameter[] {
  if (params === undefined) return []
  const { properties = {}, required = [] } = convert(params, 'input') as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, schema]) => {
    const isRequired = required.includes(name)
    // What may be left out may as well be null; where it must stand there, null has a meaning.
    const plain = isRequired ? schema : withoutNull(schema)
    const isScalar = ['string', 'number', 'integer', 'boolean'].includes(String(plain['type']))
    const isList = plain['type'] === 'array' && z.safeParse(params.shape[name] as z.ZodType, 'a').success
    return { name, schema: plain, isRequired, isInQuery: isScalar || isList }
  })
}

function describeRoute(route: Route, components: Record<string, unknown>): Json {
  const parameters = parametersOf(route)
  const isPosted = hasBody(route.method) && parameters.length > 0
  const inPath = Object.entries(route.path).map(([name, { schema }]) => ({ name, in: 'path', required: true, schema }))
  const inQuery = parameters
    .filter(({ isInQuery }) => isInQuery)
    .map(({ name, schema, isRequired }) => ({
      name,
      in: 'query',
      ...(isRequired && !isPosted ? { required: true } : {}),
      ...(schema['type'] === 'array' ? { style: 'form', explode: false } : {}),
      schema,
    }))
  const [, tag = ''] = route.pattern.split('/')
  return {
    operationId: operationIdOf(route),
    tags: [tag],
    summary: `${route.summary}.`,
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(route.isUpstream === true ? { 'x-upstream': true } : {}),
    ...(route.access === 'open' ? { security: [{}, { token: [] }, { capability: [] }] } : {}),
    ...(inPath.length + inQuery.length === 0 ? {} : { parameters: [...inPath, ...inQuery] }),
    ...(isPosted ? { requestBody: describeBody(parameters) } : {}),
    responses: describeAnswers(route, components),
  }
}

function describeBody(parameters: readonly Parameter[]): Json {
  const properties = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]))
  const required = parameters.filter(({ isRequired }) => isRequired).map(({ name }) => name)
  const schema = { type: 'object', properties, ...(required.length === 0 ? {} : { 'x-required': required }) }
  return {
    required: parameters.some(({ isRequired, isInQuery }) => isRequired && !isInQuery),
    content: { 'application/json': { schema } },
  }
}

function describeAnswers(route: Route, components: Record<string, unknown>): Json {
  const { answer } = route
  const [type, schema] =
    typeof answer === 'string'
      ? [answer, { type: 'string' }]
      : ['application/json', schemaOf(answer, 'output', components)]
  const good = { description: route.status === 404 ? 'Never anything else.' : 'Done.', content: { [type]: { schema } } }
  const bad = [...errorsByStatus(route)].map(([status, codes]) => [
    String(status),
    { $ref: '#/components/responses/Fault', description: codes.join(', ') },
  ])
  return {
    [String(route.status ?? 200)]: good,
    ...Object.fromEntries(bad),
    default: { $ref: '#/components/responses/Fault' },
  }
}

/** `GET /terminals/:id/group` is `getTerminalsIdGroup`. */
export function operationIdOf({ method, pattern }: Pick<Route, 'method' | 'pattern'>): string {
  const words = pattern.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

/** As JSON schema, with every named schema moved to `components`. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', components: Record<string, unknown>): Json {
  const { properties, $defs } = pointToComponents(convert(z.object({ it: schema }), io)) as {
    properties: { it: Json }
    $defs?: Record<string, unknown>
  }
  Object.assign(components, $defs)
  return properties.it
}

function convert(schema: z.ZodType, io: 'input' | 'output'): Json {
  return z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      // A reader must take fields that a later version adds.
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
    },
  }) as Json
}

function pointToComponents(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json
}

/** The schema of what is meant when it is not null. */
function withoutNull(schema: Json): Json {
  const { anyOf, ...rest } = schema as Json & { readonly anyOf?: readonly Json[] }
  const choices = anyOf?.filter((choice) => choice['type'] !== 'null')
  return choices?.length === 1 ? { ...choices[0], ...rest } : schema
}

function sortKeys(record: Json): Json {
  return Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
