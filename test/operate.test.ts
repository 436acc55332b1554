/** Running CAO for a long time: logs that can be read without a server, old rows that go, a copy of the database, an end by signal. */
import { spawn } from 'node:child_process'
import { appendFileSync, readdirSync, statSync, truncateSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parseServerFile } from '../src/protocol/home.ts'
import { crashServer } from './restart.case.ts'
import { readIfThere, TestWorld, until } from './world.case.ts'

const bin = join(import.meta.dirname, '..', 'bin', 'cao')
let world: TestWorld
beforeEach(async () => {
  world = await TestWorld.open()
  await world.startServer()
})
afterEach(() => world[Symbol.asyncDispose](), 60_000)

const monthMs = 30 * 24 * 3_600_000

/** As if it had all happened so long ago. */
function age(ms: number, ...ids: readonly string[]): void {
  using database = new DatabaseSync(world.world.layout.dbFile)
  const list = ids.map((id) => `'${id}'`).join(',')
  database.exec(`UPDATE terminals SET last_active_at_ms = last_active_at_ms - ${ms} WHERE id IN (${list});
    UPDATE messages SET updated_at_ms = updated_at_ms - ${ms} WHERE receiver_id IN (${list});
    UPDATE events SET at_ms = at_ms - ${ms}`)
}

async function exited(): Promise<string> {
  const id = await world.agent()
  expect(await world.run('cao', ['send', id, 'crash 0'])).toMatchObject({ code: 0 })
  await until(`${id} to end`, 15_000, async () =>
    (await world.client.getTerminal(id)).life === 'exited' ? true : undefined,
  )
  return id
}

test('purge forgets what ended long ago, says so before with --dry-run, and leaves what lives, waits or is young', async () => {
  const [living, old, young, waiting] = [await world.agent(), await exited(), await exited(), await exited()]
  expect(await world.run('cao', ['send', living, 'reply kept'])).toMatchObject({ code: 0 })
  await crashServer(world, async () => {
    using database = new DatabaseSync(world.world.layout.dbFile)
    database.exec(`UPDATE messages SET state = 'queued' WHERE receiver_id = '${waiting}'`)
    age(2 * monthMs, living, old, waiting)
  })

  const planned = JSON.parse((await world.run('cao', ['purge', '--dry-run', '--json'])).out) as Record<string, unknown>
  expect(planned).toMatchObject({ ended: [old], terminals: 0, messages: 0 })
  expect(planned['events']).toBeGreaterThan(10)
  expect((await world.client.getTerminal(old)).life).toBe('exited')
  const { code, out } = await world.run('cao', ['purge'])
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringMatching(`^forgotten: the ended agents ${old}, .*\\d+ rows of events`),
  })
  const left = (await world.client.listTerminals()).map(({ id }) => id)
  expect(left.toSorted()).toEqual([living, young, waiting].toSorted())
  expect(readdirSync(world.world.layout.terminalsDir).toSorted()).toEqual(left.toSorted())
  expect((await world.client.readOutput(living, 'last')).output.trim()).toBe('kept')
  expect(await world.client.listMessages(living, { limit: 10 })).toHaveLength(1)
  expect((await world.run('cao', ['purge'])).out).toBe('forgotten: nothing is that old\n')
  // What was deleted a moment ago is remembered as long as everything else; its messages are old by themselves.
  expect(await world.run('cao', ['purge', '--older-than', '12'])).toMatchObject({ code: 2 })
  const all = JSON.parse((await world.run('cao', ['purge', '--older-than', '0d', '--json'])).out) as {
    terminals: number
  }
  expect(all).toMatchObject({ ended: [young], terminals: 1 })
  expect((await world.client.listTerminals()).map(({ id }) => id).toSorted()).toEqual([living, waiting].toSorted())
}, 90_000)

test('the database is copied when the server starts, for its owner alone', async () => {
  const { dbFile } = world.world.layout
  const copies = await until('the copy', 15_000, () => {
    const names = readdirSync(dirname(dbFile)).filter((name) => name.endsWith('.backup'))
    return names.length > 0 ? names : undefined
  })
  expect(copies).toEqual([expect.stringMatching(/^cao\.db\.v\d+\.\d{8}T\d{6}Z\.backup$/)])
  expect(statSync(join(dirname(dbFile), copies[0] ?? '')).mode & 0o777).toBe(0o600)
})

test('logs are read where they lie, also without a server: harmless lines of an agent, sentences of the server', async () => {
  const id = await world.agent()
  expect(await world.run('cao', ['send', id, 'reply \u001b[31mnot red'])).toMatchObject({ code: 0 })
  await world.waitForStatus(id, 'completed')
  await world.endServer('SIGTERM')
  const { terminalsDir, serverLog } = world.world.layout
  appendFileSync(join(terminalsDir, id, 'output.log'), '\u001b]52;c;c2VjcmV0\u0007a title \u001b[2Jand more\n')
  const printed = await world.run('cao', ['logs', id, '--lines', '5000'])
  expect(printed).toMatchObject({ code: 0, err: '' })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be there.
  expect(printed.out).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/)
  expect(printed.out).toContain('a title and more')
  expect((await world.run('cao', ['logs', id, '--lines', '2'])).out.split('\n')).toHaveLength(3)
  expect((await world.run('cao', ['logs', '--lines', '1'])).out).toMatch(/^\d{4}-\S+Z info server stopping\n$/)
  appendFileSync(serverLog, 'Error: a stack\n')
  const json = (await world.run('cao', ['logs', 'server', '--lines', '2', '--json'])).out.trimEnd().split('\n')
  expect(json.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual([
    'server stopping',
    'Error: a stack',
  ])
  expect(await world.run('cao', ['logs', 'feedface'])).toMatchObject({
    code: 4,
    err: expect.stringContaining('no terminal feedface'),
  })
})

test('a log that is followed goes on over its new beginning, until Ctrl-C', async () => {
  const { serverLog } = world.world.layout
  const child = spawn(bin, ['logs', '--follow', '--lines', '1', '--json'], {
    env: world.world.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const say = (message: string) => appendFileSync(serverLog, `${JSON.stringify({ message })}\n`)
  const sees = (text: string) => until(text, 15_000, () => (out.includes(text) ? true : undefined))
  await sees('\n')
  say('first')
  await sees('first')
  truncateSync(serverLog)
  await until('the reader to look', 15_000, () => {
    say('second')
    return out.includes('second') ? true : undefined
  })
  child.kill('SIGINT')
  expect(await ended).toBe(0)
}, 60_000)

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '%s to "cao server run" alone ends the server in order',
  async (signal) => {
    await world.endServer('SIGTERM')
    const { layout, env, projectDir } = world.world
    const child = spawn(bin, ['server', 'run'], {
      env,
      cwd: projectDir,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    const { pid } = await until('the server', 30_000, () => parseServerFile(readIfThere(layout.serverFile)))
    expect(pid).not.toBe(child.pid)
    const ended = new Promise((resolve) => child.once('exit', (code) => resolve(code)))
    child.kill(signal)
    expect(await ended).toBe(0)
    expect([readIfThere(layout.serverFile), () => process.kill(pid, 0)]).toEqual(['', expect.any(Function)])
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  },
  60_000,
)
