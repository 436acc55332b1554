/** The spool is read as an agent's shim writes it: the real shim, run by a real shell. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../async/clock-system.ts'
import { silentLog } from '../lib/log.ts'
import { writeShims } from '../main/shims.ts'
import { HookSpool, type SpooledEvent } from './hook-spool.ts'

let dir = ''
let hook = ''
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'cao-spool-'))
  const shims = await writeShims(join(dir, 'shims'), ['/bin/true'])
  hook = shims.hookArgv[0] ?? ''
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const spool = () => join(dir, 'spool')
const fire = (name: string, payload: string) => execFileSync(hook, [spool(), name], { input: payload })

async function read(fromOffset: number): Promise<{ events: SpooledEvent[]; spool: HookSpool }> {
  const events: SpooledEvent[] = []
  const reader = new HookSpool({
    dir: spool(),
    fromOffset,
    clock: systemClock,
    log: silentLog,
    onEvent: (event) => events.push(event),
  })
  await reader.start()
  return { events, spool: reader }
}

beforeEach(() => {
  execFileSync('mkdir', ['-p', spool()])
})

test('events written while nobody read come first, in order, each once', async () => {
  for (let i = 0; i < 5; i++) fire('Turn', JSON.stringify({ i }))
  const first = await read(0)
  await first.spool[Symbol.asyncDispose]()
  expect(first.events.map((event) => [event.name, event.payload])).toEqual([0, 1, 2, 3, 4].map((i) => ['Turn', { i }]))
  fire('Late', '{}')
  const second = await read(first.events.at(-1)?.nextOffset ?? 0)
  await second.spool[Symbol.asyncDispose]()
  expect(second.events.map((event) => event.name)).toEqual(['Late'])
  expect(readdirSync(spool())).toEqual(['index'])
})

test('events that arrive while it follows are handled without being asked for', async () => {
  const { events, spool: reader } = await read(0)
  fire('Now', '{"a":1}')
  await expect.poll(() => events.length, { timeout: 5_000 }).toBe(1)
  await reader[Symbol.asyncDispose]()
})

test('a broken payload, a missing file and a strange index line are passed over and do not stop the rest', async () => {
  fire('Good', '{"n":1}')
  fire('Bad', 'not json')
  appendFileSync(join(spool(), 'index'), 'nowhere.json Lost\n???\n')
  fire('Good', '{"n":2}')
  writeFileSync(join(spool(), '.123'), 'half written')
  const { events, spool: reader } = await read(0)
  await reader[Symbol.asyncDispose]()
  expect(events.map((event) => event.payload)).toEqual([{ n: 1 }, { n: 2 }])
})

test('the shim exits 0 even when its spool is gone', () => {
  rmSync(spool(), { recursive: true })
  expect(() => fire('Any', '{}')).not.toThrow()
})
