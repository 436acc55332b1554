import { expect, test } from 'vitest'
import { createMethodsOf } from './known-methods.ts'

const methodsOf = createMethodsOf([
  { method: 'GET', pattern: '/terminals/:id' },
  { method: 'DELETE', pattern: '/terminals/:id' },
  { method: 'POST', pattern: '/terminals/run-step' },
  { method: 'GET', pattern: '/openapi.json' },
])

test.each([
  ['/terminals/12ab34cd', ['GET', 'DELETE']],
  ['/terminals/run-step', ['GET', 'DELETE', 'POST']],
  ['/terminals/', []],
  ['/terminals/a/b', []],
  ['/openapiXjson', []],
  ['/openapi.json', ['GET']],
])('%s takes %j', (path, methods) => {
  expect(methodsOf(path)).toEqual(methods)
})
