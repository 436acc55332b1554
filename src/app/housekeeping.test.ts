/** Housekeeping on a real store and a clock that is moved by hand. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ManualClock } from '../async/clock-manual.ts'
import type { SessionName, TerminalId } from '../domain/ids.ts'
import { createJsonLog } from '../lib/log.ts'
import { newTerminal } from '../store/rows.case.ts'
import { openStore } from '../store/sqlite/open.ts'
import type { Store } from '../store/store.ts'
import { keepHouse, purge } from './housekeeping.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

let dir = ''
let store: Store
let clock: ManualClock
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'cao-house-'))
  store = openStore({ path: join(dir, 'cao.db') })
  clock = new ManualClock()
})
afterEach(() => {
  store[Symbol.dispose]()
  rmSync(dir, { recursive: true })
})

const copies = () => readdirSync(dir).filter((name) => name.endsWith('.backup')).length
const addEvent = (ageMs: number) =>
  store.events.append({ type: 'session.created', sessionName: 'cao-x' as SessionName }, clock.nowMs() - ageMs)

test('a copy is made at once, old events go a minute after the start and then each hour, until it is told to stop', async () => {
  const said: string[] = []
  const log = createJsonLog(
    (line) => said.push(line),
    () => 0,
  )
  const stopping = new AbortController()
  const deleter = { delete: () => Promise.reject(new Error('nothing has ended')) }
  const keeping = keepHouse({ store, clock, log }, { deleter, olderThanMs: 30 * dayMs }, stopping.signal)
  await vi.waitFor(() => expect(copies()).toBe(1))
  addEvent(31 * dayMs)
  addEvent(29 * dayMs)
  await clock.advance(minuteMs - 1)
  expect(store.events.firstSeq()).toBe(1)
  // Whatever I/O the copy still has to do, the next pause stands only after it.
  await vi.waitFor(async () => {
    await clock.advance(1)
    expect(store.events.firstSeq()).toBe(2)
  })
  expect(said.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual([
    'database copied',
    'what ended long ago is forgotten',
  ])
  await clock.advance(2 * dayMs)
  await vi.waitFor(async () => {
    await clock.advance(hourMs)
    expect(store.events.firstSeq()).toBe(0)
  })
  stopping.abort(new Error('enough'))
  await expect(keeping).rejects.toThrow('enough')
})

test('what can not be removed is said and stops nothing else', async () => {
  const id = 'aaaaaaaa' as TerminalId
  store.terminals.insert(newTerminal(id, { createdAtMs: clock.nowMs() - 40 * dayMs }))
  store.terminals.step(id, 'open', { pane: { instanceId: 'f00dfeedf00dfeed' as never, paneId: '%1' } })
  store.terminals.step(id, 'lose', { reason: 'tmux ended' })
  addEvent(40 * dayMs)
  const said: string[] = []
  const log = createJsonLog(
    (line) => said.push(line),
    () => 0,
  )
  const deleter = { delete: () => Promise.reject(new Error('it will not go')) }
  const waiting = { signal: new AbortController().signal }
  const outcome = await purge({ store, clock, log }, deleter, { olderThanMs: 30 * dayMs, isDryRun: false }, waiting)
  expect(outcome).toEqual({ ended: [], terminals: 0, messages: 0, jobs: 0, questions: 0, events: 1 })
  expect(said).toEqual([expect.stringContaining('it will not go')])
})
