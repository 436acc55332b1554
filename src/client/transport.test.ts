import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../async/clock-system.ts'
import { AppError } from '../domain/errors.ts'
import { createTransport } from './transport.ts'

let dir: string
let socketPath: string
const stops: (() => Promise<void>)[] = []
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'cao-client-'))
  socketPath = join(dir, 's')
})
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
  await rm(dir, { recursive: true })
})

/** A plain HTTP server: what is tested is our side of the wire. */
async function serve(listener: RequestListener): Promise<void> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(socketPath, resolve))
  stops.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
}

const transport = () => createTransport({ socketPath }, 'my-capability', systemClock)
const fault = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no fault',
    (error: unknown) => (error instanceof AppError ? error : String(error)),
  )

test('a call carries its query, its body and who it is', async () => {
  await serve((incoming, outgoing) => {
    let body = ''
    incoming.setEncoding('utf8').on('data', (part: string) => (body += part))
    incoming.on('end', () => {
      const { method, url, headers } = incoming
      const seen = { method, url, body, type: headers['content-type'], capability: headers['x-cao-capability'] }
      outgoing.end(JSON.stringify(seen))
    })
  })
  const query = { limit: 5, name: 'a b&c', absent: undefined }
  const call = { method: 'POST', path: '/x', query, body: { text: 'grüße' }, timeoutMs: 5_000 } as const
  expect(await transport().call(call)).toEqual({
    method: 'POST',
    url: '/x?limit=5&name=a+b%26c',
    body: '{"text":"grüße"}',
    type: 'application/json',
    capability: 'my-capability',
  })
})

test('a refusal of the server is the same error here', async () => {
  await serve((_incoming, outgoing) => {
    outgoing.statusCode = 409
    outgoing.end('{"detail":"it waits for an answer","code":"BLOCKED","data":{"id":"12ab34cd"}}')
  })
  const error = await fault(transport().call({ method: 'GET', path: '/x', timeoutMs: 5_000 }))
  expect(error).toMatchObject({ code: 'BLOCKED', message: 'it waits for an answer', data: { id: '12ab34cd' } })
})

test.each([
  ['no socket', async () => {}],
  ['a file that is no socket', () => writeFile(socketPath, '')],
])('%s means that no server runs, and says how to start one', async (_what, prepare) => {
  await prepare()
  const error = await fault(transport().call({ method: 'GET', path: '/x', timeoutMs: 5_000 }))
  expect(error).toMatchObject({
    code: 'SERVER_UNREACHABLE',
    message: `no CAO server answers at ${socketPath}: start one with "cao server start"`,
    data: { mayHaveArrived: false },
  })
})

test('a server that dies in the middle may have heard the request', async () => {
  await serve((incoming) => incoming.socket.destroy())
  const error = await fault(transport().call({ method: 'POST', path: '/x', timeoutMs: 5_000 }))
  expect(error).toMatchObject({ code: 'SERVER_UNREACHABLE', data: { mayHaveArrived: true } })
})

test('a server that dies in the middle of its answer is gone, not half an answer', async () => {
  await serve((incoming, outgoing) => {
    outgoing.writeHead(200, { 'content-length': '100' })
    outgoing.write('{"a":', () => incoming.socket.destroy())
  })
  const error = await fault(transport().call({ method: 'GET', path: '/x', timeoutMs: 5_000 }))
  expect(error).toMatchObject({ code: 'SERVER_UNREACHABLE', data: { mayHaveArrived: true } })
})

test.each([
  ['never answers', () => {}],
  [
    'stops in the middle of its answer',
    (_: unknown, outgoing: Parameters<RequestListener>[1]) => void outgoing.write('{"a":'),
  ],
] as const)('a server that %s is given up at the deadline, which names the call', async (_what, listener) => {
  await serve(listener)
  const error = await fault(transport().call({ method: 'GET', path: '/slow', timeoutMs: 100 }))
  expect(error).toMatchObject({ code: 'TIMEOUT', message: 'the server did not answer GET /slow within 100 ms' })
})

test('an abort ends the call with its own reason, before and during the request', async () => {
  await serve(() => {})
  const call = { method: 'GET', path: '/x', timeoutMs: 5_000 } as const
  expect(await fault(transport().call({ ...call, signal: AbortSignal.abort(new Error('early')) }))).toBe('Error: early')
  const controller = new AbortController()
  const running = fault(transport().call({ ...call, signal: controller.signal }))
  setTimeout(() => controller.abort(new Error('enough')), 50)
  expect(await running).toBe('Error: enough')
})
