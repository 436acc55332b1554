/** The two channels against real processes and a real server on loopback. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { systemClock } from '../async/clock-system.ts'
import { createCommandChannel } from './command-channel.ts'
import { testPayload } from './notice.ts'
import { checkWebhookUrl, createWebhookChannel } from './webhook-channel.ts'

const payload = testPayload(0)
const waiting = { signal: new AbortController().signal }
const dir = mkdtempSync(join(tmpdir(), 'cao-channels-'))
let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
  server = undefined
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const command = (argv: readonly string[], timeoutMs = 20_000) =>
  createCommandChannel({
    clock: systemClock,
    argv,
    cwd: dir,
    env: { PATH: process.env['PATH'] ?? '', HOME: dir, CAO_HOME: '/x', AWS_SECRET_ACCESS_KEY: 'secret', DISPLAY: ':7' },
    timeoutMs,
  })

test('the command gets the notices on stdin, a few variables, and nothing else of the environment', async () => {
  const outcome = await command(['sh', '-c', 'cat > in; env > env; echo thanks']).tell(payload, waiting)
  expect(outcome).toEqual({ kind: 'told', detail: 'thanks' })
  expect(JSON.parse(readFileSync(join(dir, 'in'), 'utf8'))).toEqual(payload)
  const names = readFileSync(join(dir, 'env'), 'utf8')
    .split('\n')
    .map((line) => line.split('=')[0])
  const own = ['CAO_NOTIFY_COUNT', 'CAO_NOTIFY_KINDS', 'CAO_NOTIFY_TEXT', 'CAO_NOTIFY_TITLE', 'CAO_NOTIFY_TYPE']
  const shells = ['PWD', 'OLDPWD', 'SHLVL', '_', '']
  const given = names.filter((name) => !shells.includes(name ?? ''))
  expect(new Set(given)).toEqual(new Set([...own, 'DISPLAY', 'HOME', 'PATH']))
  expect(readFileSync(join(dir, 'env'), 'utf8')).toContain(`CAO_NOTIFY_TITLE=${payload.title}\n`)
})

test('a command that fails is tried again, one that is not there is not, and each says why', async () => {
  expect(await command(['sh', '-c', 'echo "no display" >&2; exit 1']).tell(payload, waiting)).toEqual({
    kind: 'failed',
    why: 'it ended with code 1: no display',
    isFinal: false,
  })
  expect(await command(['sh', '-c', 'sleep 100'], 300).tell(payload, waiting)).toMatchObject({
    kind: 'failed',
    why: 'it did not end within 0.3 s',
  })
  expect(await command(['no-such-program-here']).tell(payload, waiting)).toMatchObject({
    kind: 'failed',
    isFinal: true,
  })
})

type Got = { readonly headers: IncomingMessage['headers']; readonly body: string; readonly url: string }
function serve(answer: (response: ServerResponse) => void): Promise<{ readonly url: string; readonly got: Got[] }> {
  const got: Got[] = []
  const made = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      got.push({ headers: request.headers, body, url: request.url ?? '' })
      answer(response)
    })
  })
  server = made
  return new Promise((resolve) => {
    made.listen(0, '127.0.0.1', () =>
      resolve({ url: `http://127.0.0.1:${(made.address() as AddressInfo).port}/hook?k=v`, got }),
    )
  })
}
const webhook = (url: string, more: { timeoutMs?: number; readSecret?: () => Promise<string> } = {}) =>
  createWebhookChannel({ clock: systemClock, url, readSecret: undefined, ...more })

test('the webhook is posted the notices, with the secret of its file', async () => {
  const { url, got } = await serve((response) => response.writeHead(204).end())
  const file = join(dir, 'secret')
  writeFileSync(file, 's3cret')
  const readSecret = () => Promise.resolve(readFileSync(file, 'utf8'))
  expect(await webhook(url, { readSecret }).tell(payload, waiting)).toEqual({ kind: 'told', detail: 'it answered 204' })
  expect(JSON.parse(got[0]?.body ?? '')).toEqual(payload)
  expect(got[0]).toMatchObject({
    url: '/hook?k=v',
    headers: { authorization: 'Bearer s3cret', 'content-type': 'application/json' },
  })
})

test.each([
  [302, true],
  [401, true],
  [404, true],
  [408, false],
  [429, false],
  [500, false],
  [503, false],
] as const)('an answer of %i is a failure, final: %s', async (status, isFinal) => {
  const { url, got } = await serve((response) => response.writeHead(status, { location: '/else' }).end('x'))
  expect(await webhook(url).tell(payload, waiting)).toMatchObject({ kind: 'failed', isFinal })
  expect(got).toHaveLength(1)
})

test('one that is silent, endless, broken off or not there fails in time and names no URL', async () => {
  const silent = await serve(() => undefined)
  expect(await webhook(silent.url, { timeoutMs: 300 }).tell(payload, waiting)).toEqual({
    kind: 'failed',
    why: 'it did not answer within 0.3 s',
    isFinal: false,
  })
  server?.closeAllConnections()
  server?.close()
  const broken = await serve((response) => response.destroy())
  const cut = await webhook(broken.url).tell(payload, waiting)
  expect(cut).toMatchObject({ kind: 'failed', isFinal: false })
  const endless = await serve((response) => {
    response.writeHead(200)
    const more = () => response.write('x'.repeat(65_536)) && setImmediate(more)
    response.on('drain', more)
    more()
  })
  expect(await webhook(endless.url).tell(payload, waiting)).toMatchObject({ kind: 'told' })
  const gone = await webhook('http://127.0.0.1:1/secret-path').tell(payload, waiting)
  expect(gone).toMatchObject({ kind: 'failed', isFinal: false })
  expect(JSON.stringify([cut, gone])).not.toMatch(/secret-path|hook/)
})

test('only https, and http on this machine, may be called', () => {
  const judge = (url: string) => ('url' in checkWebhookUrl(url) ? 'yes' : 'no')
  const yes = ['https://example.com/x', 'http://127.0.0.1:8080/', 'http://localhost/', 'http://[::1]:1/x']
  const no = [
    'http://example.com/',
    'http://127.0.0.1.example.com/',
    'ftp://127.0.0.1/',
    'https://u:p@example.com/',
    'file:///etc',
    'x',
  ]
  expect([yes.map(judge), no.map(judge)]).toEqual([yes.map(() => 'yes'), no.map(() => 'no')])
})
