import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Hono } from 'hono'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../async/clock-system.ts'
import { type LogLevel, silentLog } from '../lib/log.ts'
import { headerBytesMax } from '../protocol/version.ts'
import type { HttpEnv } from './context.ts'
import { listen } from './listen.ts'
import { loadOrCreateToken } from './token.ts'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'cao-listen-'))
})
afterEach(() => rm(dir, { recursive: true }))

/** Doors of the clients that went away. */
const left: string[] = []

function echoDoor(): Hono<HttpEnv> {
  const router = new Hono<HttpEnv>()
  router.get('/door', (c) => c.json(c.env.door))
  router.get('/slow', async (c) => {
    await new Promise((resolve) => setTimeout(resolve, 200))
    return c.text('ended')
  })
  router.get('/held', async (c) => {
    await new Promise((resolve) => c.req.raw.signal.addEventListener('abort', resolve, { once: true }))
    left.push(c.env.door.kind)
    return c.text('nobody reads this')
  })
  router.get('/length', (c) => c.text(String(c.req.query('message')?.length)))
  return router
}

function get(where: { socketPath: string } | { port: number }, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    request({ ...where, host: '127.0.0.1', path, agent: false }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => (text += part))
      answer.on('end', () => resolve(text)).on('error', reject)
    })
      .on('error', reject)
      .end()
  })
}

const base = () => ({
  router: echoDoor(),
  clock: systemClock,
  log: silentLog,
  socketPath: join(dir, 'run', 'server.sock'),
})

test('one app stands behind both doors and is told which one was used', async () => {
  await using doors = await listen({ ...base(), tcp: { host: '127.0.0.1', port: 0, token: 'secret' } })
  expect(JSON.parse(await get({ socketPath: doors.socketPath }, '/door'))).toEqual({ kind: 'unix' })
  expect(JSON.parse(await get({ port: doors.port ?? 0 }, '/door'))).toEqual({ kind: 'tcp', token: 'secret' })
})

test('only the owner can open the socket, and only the owner can enter its folder', async () => {
  await using doors = await listen({ ...base(), tcp: undefined })
  expect((await stat(doors.socketPath)).mode & 0o777).toBe(0o600)
  expect((await stat(join(dir, 'run'))).mode & 0o777).toBe(0o700)
})

test('the socket of a server that was killed gives way', async () => {
  const options = { ...base(), tcp: undefined }
  const dead = await listen(options)
  await using again = await listen(options)
  expect(await get({ socketPath: again.socketPath }, '/door')).toContain('unix')
  await dead[Symbol.asyncDispose]()
})

test('a file that is no socket stays, and says so', async () => {
  const path = join(dir, 'server.sock')
  await writeFile(path, 'mine')
  await expect(listen({ ...base(), socketPath: path, tcp: undefined })).rejects.toMatchObject({ code: 'INTERNAL' })
  expect((await stat(path)).size).toBe(4)
})

test('a taken port is a conflict that names the way out, and leaves no socket open', async () => {
  const other = createServer()
  const port = await new Promise<number>((resolve) => {
    other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port))
  })
  await expect(listen({ ...base(), tcp: { host: '127.0.0.1', port, token: 'x' } })).rejects.toMatchObject({
    code: 'CONFLICT',
    message: `port ${port} on 127.0.0.1 is taken: stop what listens there, or choose another with CAO_API_PORT`,
  })
  await expect(stat(join(dir, 'run', 'server.sock'))).rejects.toMatchObject({ code: 'ENOENT' })
  other.close()
})

test('a TCP door without a token is warned about', async () => {
  const lines: [LogLevel, string][] = []
  const log = { ...silentLog, write: (level: LogLevel, message: string) => void lines.push([level, message]) }
  await using _doors = await listen({ ...base(), log, tcp: { host: '127.0.0.1', port: 0, token: undefined } })
  expect(lines).toEqual([['warn', 'no-auth: every process on this machine can use this server']])
})

test('closing lets a request that runs end, and takes the socket away', async () => {
  const doors = await listen({ ...base(), tcp: undefined })
  const running = get({ socketPath: doors.socketPath }, '/slow')
  await new Promise((resolve) => setTimeout(resolve, 50))
  await doors[Symbol.asyncDispose]()
  expect(await running).toBe('ended')
  await expect(stat(doors.socketPath)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('a client that goes away ends the wait that was only for it', async () => {
  await using doors = await listen({ ...base(), tcp: undefined })
  const sent = request({ socketPath: doors.socketPath, path: '/held', agent: false }).on('error', () => {})
  sent.end()
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(left).toEqual([])
  sent.destroy()
  for (let i = 0; i < 40 && left.length === 0; i++) await new Promise((resolve) => setTimeout(resolve, 25))
  expect(left).toEqual(['unix'])
})

test('a message of a hundred thousand characters fits into a query, as upstream sends it', async () => {
  await using doors = await listen({ ...base(), tcp: undefined })
  const message = 'x'.repeat(100_000)
  expect(headerBytesMax).toBeGreaterThan(message.length)
  expect(await get({ socketPath: doors.socketPath }, `/length?message=${message}`)).toBe('100000')
})

test('a token is made once, is long, and only its owner can read it', async () => {
  const path = join(dir, 'fresh', 'token')
  const made = await loadOrCreateToken(path)
  expect(made).toMatch(/^[0-9a-f]{64}$/)
  expect(await loadOrCreateToken(path)).toBe(made)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
})

test('a token file that is empty, or that others could read, is put right', async () => {
  const path = join(dir, 'token')
  await writeFile(path, '', { mode: 0o600 })
  expect(await loadOrCreateToken(path)).toMatch(/^[0-9a-f]{64}$/)
  const open = join(dir, 'open')
  await writeFile(open, 'mine\n', { mode: 0o644 })
  expect(await loadOrCreateToken(open)).toBe('mine')
  expect((await stat(open)).mode & 0o777).toBe(0o600)
})
