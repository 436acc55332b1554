/** How the server starts and answers at its edges: requests as other programs write them, homes and ports that are taken. */
import { statSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TestWorld } from './world.case.ts'

let world: TestWorld
beforeAll(async () => {
  world = await TestWorld.open()
  await world.startServer()
}, 60_000)
afterAll(() => world[Symbol.asyncDispose](), 60_000)

/** Sends these bytes and returns what comes back until the end; `cut` when the server hung up on what was still being sent. */
function talk(bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(join(world.world.layout.runDir, 'server.sock'))
    let answer = ''
    socket.on('data', (chunk) => (answer += chunk.toString()))
    socket.once('error', () => resolve(answer === '' ? 'cut' : answer))
    socket.once('close', () => resolve(answer))
    socket.write(bytes)
  })
}

test('a request that says nothing of its length, and one in chunks, are answered as any other', async () => {
  const id = await world.agent()
  const head = `POST /terminals/${id}/input?message=one HTTP/1.1\r\nHost: cao\r\nConnection: close\r\n`
  expect(await talk(`${head}\r\n`)).toContain('"success":true')
  const body = JSON.stringify({ message: 'two' })
  const chunked = `${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  expect(await talk(chunked)).toContain('"success":true')
  expect(await talk(`DELETE /terminals/${id} HTTP/1.1\r\nHost: cao\r\nConnection: close\r\n\r\n`)).toContain(
    '"success":true',
  )
}, 60_000)

test('an endless body is refused at the limit', async () => {
  const chunk = `${(1024 * 1024).toString(16)}\r\n${'x'.repeat(1024 * 1024)}\r\n`
  const answer = await talk(
    `POST /jobs HTTP/1.1\r\nHost: cao\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(9)}0\r\n\r\n`,
  )
  expect(answer).toMatch(/413|^cut$/)
  expect(await talk('GET /health HTTP/1.1\r\nHost: cao\r\nConnection: close\r\n\r\n')).toContain('"status":"ok"')
}, 60_000)

test('a head that never ends does not hold its connection', async () => {
  expect(await talk('GET /health HTTP/1.1\r\nHost: cao\r\n')).toMatch(/^HTTP\/1\.1 408 |^$|^cut$/)
}, 45_000)

test('everything in the home is for its owner alone', () => {
  const { layout } = world.world
  const modes = [layout.runDir, layout.terminalsDir].map((path) => statSync(path).mode & 0o777)
  expect(modes).toEqual([0o700, 0o700])
  const files = ['lock.db', 'server.json', 'server.sock', 'tmux.sock'].map(
    (name) => statSync(join(layout.runDir, name)).mode & 0o077,
  )
  expect(files).toEqual([0, 0, 0, 0])
})

test('a second server for the same home names the first and leaves it alone', async () => {
  const ran = await world.run('cao-server', [])
  expect(ran.code).toBe(9)
  expect(ran.err).toContain(`a server already runs for ${world.world.layout.home} (process ${world.server?.pid}`)
  expect((await world.client.health()).pid).toBe(world.server?.pid)
})

test('a chosen port that is taken stops the start before anything is made; a home that is a file says so', async () => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const { port } = taken.address() as { port: number }
  try {
    const home = join(world.world.folder, 'other')
    const ran = await world.run('cao-server', ['--port', String(port)], { env: { CAO_HOME: home } })
    expect(ran).toMatchObject({ code: 9, out: '' })
    expect(ran.err).toContain(`port ${port} on 127.0.0.1 is taken`)
    expect(() => statSync(join(home, 'run', 'tmux.sock'))).toThrow('ENOENT')
  } finally {
    taken.close()
  }
  const file = join(world.world.folder, 'file')
  writeFileSync(file, '')
  const ran = await world.run('cao-server', [], { env: { CAO_HOME: file } })
  expect(ran.code).toBe(2)
  expect(ran.err).toContain('name another folder by CAO_HOME')
  // A place where no folder can be made, and where Node's recursive mkdir never returns.
  const never = await world.run('cao-server', [], { env: { CAO_HOME: '/proc/no/such' } })
  expect(never.err).toContain('name another folder by CAO_HOME')
}, 60_000)
