/**
 * The description of the HTTP interface, held to the interface: what is checked in is what the declarations say, it is legal OpenAPI 3.1, it
 * tells of every route and of nothing else, and so does the reference for people. Every text that comes in has a limit.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/async/clock-system.ts'
import { silentLog } from '../../src/lib/log.ts'
import { paths } from '../../src/protocol/paths.ts'
import { replaceReference } from '../../src/server/api-reference.ts'
import { createHttpApp } from '../../src/server/http-app.ts'
import { describeApi, type Json } from '../../src/server/openapi.ts'
import { routes } from '../../src/server/routes.ts'

const root = join(import.meta.dirname, '..', '..')
const load = (...path: string[]) => readFile(join(root, ...path), 'utf8')
const version = async () => (JSON.parse(await load('package.json')) as { version: string }).version
const again = 'docs/ is not what src/server/routes/ declares: look at the change, then run `npm run openapi`'

test('docs/openapi.json is what the routes declare', async () => {
  const declared = `${JSON.stringify(describeApi(routes, await version()), undefined, 2)}\n`
  expect(await load('docs', 'openapi.json'), again).toBe(declared)
})

test('docs/http.md tells the routes as they are declared', async () => {
  const text = await load('docs', 'http.md')
  expect(text, again).toBe(replaceReference(text, routes))
})

test('the document is legal OpenAPI 3.1', async () => {
  const document = JSON.parse(await load('docs', 'openapi.json')) as Json
  expect(await new Validator().validate(document)).toEqual({ valid: true })
  const broken = { ...document, info: {} }
  expect(await new Validator().validate(broken)).toMatchObject({ valid: false })
})

test('every registered route is in the document, and the other way round', async () => {
  const app = createHttpApp({
    app: undefined as never,
    clock: systemClock,
    log: silentLog,
    version: '0',
    closing: new AbortController().signal,
    capabilities: { find: () => undefined },
    rules: { hosts: [], origins: [] },
    audit: () => undefined,
  })
  const registered = app.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`)
  const told = (await operations()).map(
    ({ method, path }) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
  )
  expect(told.toSorted()).toEqual(registered.toSorted())
})

test('every operation has a name of its own and a sentence', async () => {
  const all = await operations()
  expect(new Set(all.map(({ operation }) => operation['operationId'])).size).toBe(all.length)
  expect(all.filter(({ operation }) => !/^[A-Z].*[^.]\.$/.test(String(operation['summary'])))).toEqual([])
})

test('our client can build the path of every route', async () => {
  const built = Object.entries(paths).map(([, build]) =>
    decodeURIComponent((build as (...parts: string[]) => string)('{}', '{}')),
  )
  const told = new Set((await operations()).map(({ path }) => path.replaceAll(/\{\w+\}/g, '{}')))
  expect([...new Set(built)].toSorted()).toEqual([...told].toSorted())
})

test('every text that comes in has a limit', async () => {
  const unbounded = (await operations()).flatMap(({ method, path, operation }) => {
    const { parameters = [], requestBody } = operation as { parameters?: { in: string }[]; requestBody?: Json }
    const given = [...parameters.filter((parameter) => parameter.in === 'query'), requestBody ?? {}]
    return given.flatMap((part) => findUnbounded(part, `${method} ${path}`))
  })
  expect(unbounded).toEqual([])
})

type Operation = { readonly path: string; readonly method: string; readonly operation: Json }

async function operations(): Promise<readonly Operation[]> {
  const { paths: told } = describeApi(routes, await version())
  return Object.entries(told).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
}

/** Texts without a longest, lists without a most; by where they stand. */
function findUnbounded(value: unknown, where: string): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  const { type, maxLength, maxItems, enum: words, const: word, format } = value as Json
  const isBounded = words !== undefined || word !== undefined || format === 'uuid'
  const own =
    (type === 'string' && maxLength === undefined && !isBounded) || (type === 'array' && maxItems === undefined)
      ? [where]
      : []
  return [...own, ...Object.entries(value).flatMap(([name, inner]) => findUnbounded(inner, `${where} ${name}`))]
}
