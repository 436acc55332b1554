import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../async/clock-system.ts'
import { AppError } from '../domain/errors.ts'
import { layoutOf } from '../protocol/home.ts'
import { findProcesses } from '../world/find-processes.ts'
import { ensureServer, lastSentence } from './ensure-server.ts'
import { findServer } from './find-server.ts'

/** Stands for the server program: the socket is the lock, as far as this test goes. */
const program = `
import { createServer } from 'node:net'
import { mkdirSync, writeFileSync } from 'node:fs'
const run = process.env.CAO_HOME + '/run'
mkdirSync(run, { recursive: true })
const path = run + '/server.sock'
const server = createServer((socket) => socket.end())
server.once('error', () => { console.error('Error: another server runs.'); process.exit(9) })
server.listen(path, () => {
  const file = { pid: process.pid, socket_path: path, tcp_port: null, version: '1', protocol_version: 1, started_at: '' }
  writeFileSync(run + '/server.json', JSON.stringify(file))
})
`

let home: string

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'cao-ensure-'))
})
afterEach(async () => {
  // A starter that lost the race may still be on its way: until none is left.
  for (let left = await findProcesses(home); left.length > 0; left = await findProcesses(home)) {
    for (const { pid } of left) killIfThere(pid)
  }
  await rm(home, { recursive: true, force: true })
})

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

const ensure = (code: string, env: Readonly<Record<string, string>> = {}) =>
  ensureServer({
    layout: layoutOf(home),
    clock: systemClock,
    signal: new AbortController().signal,
    env: { PATH: process.env['PATH'], ...env },
    program: [process.execPath, '--input-type=module', '-e', code],
  })

async function refusal(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.catch((reason: unknown) => reason)
  if (error instanceof AppError && error.code === 'SERVER_UNREACHABLE') return error.message.replaceAll(home, 'HOME')
  throw error
}

test('ten commands at once from nothing end up with one server', async () => {
  const ensured = await Promise.all(Array.from({ length: 10 }, () => ensure(program)))
  expect(new Set(ensured.map(({ file }) => file.pid)).size).toBe(1)
  expect(await ensure(program)).toMatchObject({ isNew: false })
  const { logsDir, serverLog } = layoutOf(home)
  expect([(await stat(logsDir)).mode & 0o777, (await stat(serverLog)).mode & 0o777]).toEqual([0o700, 0o600])
})

test('the file of a server that was killed is no server', async () => {
  const { file } = await ensure(program)
  process.kill(file.pid, 'SIGKILL')
  await expect.poll(async () => (await findServer(layoutOf(home), systemClock)).kind).toBe('none')
  // As the real server does before it listens.
  const freshProgram = program.replace(
    'server.listen(',
    "rmSync(run + '/server.json', { force: true }); server.listen(",
  )
  await rm(file.socket_path, { force: true })
  expect((await ensure(freshProgram.replace('mkdirSync,', 'mkdirSync, rmSync,'))).file.pid).not.toBe(file.pid)
})

test('a server that can not start is reported with its reason and its log', async () => {
  expect(await refusal(ensure('console.error("Error: no luck here."); process.exit(70)'))).toBe(
    'the CAO server ended with code 70 (no luck here); its log is HOME/logs/server.log',
  )
})

test.each([
  [2, 'BAD_REQUEST'],
  [65, 'STORE_CORRUPT'],
  [69, 'SETUP_MISSING'],
  [75, 'BACKEND_GONE'],
  [78, 'STORE_NEWER'],
])(
  'what a server refused to start for, with code %i, is the reason and the code of the command',
  async (code, name) => {
    const error: unknown = await ensure(`console.error("Error: not like this."); process.exit(${code})`).catch(
      (reason: unknown) => reason,
    )
    expect(error).toMatchObject({ code: name, message: 'the CAO server did not start: not like this' })
    expect((error as AppError).row.exitCode).toBe(code)
  },
)

test('what the system refused a server in its home is a fault of that home', async () => {
  const failing = `import { mkdirSync, openSync } from 'node:fs'
    mkdirSync(process.env.CAO_HOME + '/run/lock.db')
    try { openSync(process.env.CAO_HOME + '/run/lock.db', 'a') } catch (error) { console.error(error.stack) }
    process.exit(70)`
  await expect(ensure(failing)).rejects.toMatchObject({
    code: 'BAD_REQUEST',
    message: expect.stringMatching(/can not be used: .*lock\.db \(EISDIR\); choose another folder by CAO_HOME$/),
  })
})

test('an agent starts no server', async () => {
  expect(await refusal(ensure(program, { CAO_TERMINAL_ID: '1a2b3c4d' }))).toMatch(/an agent does not start one/)
  await expect(stat(layoutOf(home).runDir)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('a frozen server is not replaced by a second one', async () => {
  const { file } = await ensure(program)
  process.kill(file.pid, 'SIGSTOP')
  expect(await ensure(program)).toEqual({ file, isNew: false })
  process.kill(file.pid, 'SIGCONT')
})

test('the reason is the last error line of the log, else its last line', () => {
  expect([lastSentence('a\nError: b.\nat c\n'), lastSentence('a\n\nb\n'), lastSentence('')]).toEqual(['b', 'b', ''])
})
