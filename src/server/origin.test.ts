import { expect, test } from 'vitest'
import { isForeignPage, isHostAllowed, isOriginAllowed } from './origin.ts'

const rules = { hosts: ['cao.example'], origins: ['http://localhost:5173'] }

test.each([
  ['localhost', true],
  ['localhost:9889', true],
  ['LOCALHOST:9889', true],
  ['127.0.0.1:9889', true],
  ['[::1]:9889', true],
  ['cao.example', true],
  ['evil.example', false],
  ['localhost.evil.example', false],
  ['127.0.0.1.evil.example', false],
  ['localhost:9889@evil.example', false],
  ['localhost:99999999', false],
  ['', false],
  [undefined, false],
])('host %s: %s', (host, isAllowed) => {
  expect(isHostAllowed(host, rules)).toBe(isAllowed)
})

test('a star allows every host', () => {
  expect(isHostAllowed('anything.example', { hosts: ['*'], origins: [] })).toBe(true)
})

test.each([
  ['POST', undefined, true],
  ['POST', 'http://127.0.0.1:9889', true],
  ['POST', 'http://localhost:5173', true],
  ['POST', 'http://localhost:5174', false],
  ['POST', 'http://127.0.0.1:9890', false],
  ['POST', 'http://evil.example', false],
  ['POST', 'null', false],
  ['POST', '', false],
  ['POST', 'http://127.0.0.1:9889.evil.example', false],
  ['POST', 'http://evil@127.0.0.1:9889', false],
  ['PUT', 'http://evil.example', false],
  ['PATCH', 'http://evil.example', false],
  ['DELETE', 'http://evil.example', false],
  ['GET', 'http://evil.example', true],
] as const)('%s from origin %s: %s', (method, origin, isAllowed) => {
  expect(isOriginAllowed({ method, origin, host: '127.0.0.1:9889' }, rules)).toBe(isAllowed)
})

test.each([
  ['no browser', {}, false],
  ['our own page', { site: 'same-origin' }, false],
  ['an address that a person has typed', { site: 'none', mode: 'navigate', destination: 'document' }, false],
  ['a link on another page', { site: 'cross-site', mode: 'navigate', destination: 'document' }, false],
  ['a form on another page', { site: 'cross-site', mode: 'navigate', destination: 'document', method: 'POST' }, true],
  ['a frame in another page', { site: 'cross-site', mode: 'navigate', destination: 'iframe' }, true],
  ['an image in another page', { site: 'cross-site', mode: 'no-cors', destination: 'image' }, true],
  ['a page on another port', { site: 'same-site', mode: 'cors', destination: 'empty' }, true],
  ['a page that is allowed', { site: 'same-site', mode: 'cors', origin: 'http://localhost:5173' }, false],
  ['a post that hides its origin', { site: 'cross-site', mode: 'no-cors', method: 'POST' }, true],
])('what a browser says of a request: %s', (_what, said, isForeign) => {
  const request = { method: 'GET', host: '127.0.0.1:9889', origin: undefined, site: undefined, mode: undefined }
  expect(isForeignPage({ ...request, destination: undefined, ...said }, rules)).toBe(isForeign)
})
