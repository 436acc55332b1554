import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { JobId, MessageId, MessageToken, SessionName, TerminalId } from '../../domain/ids.ts'
import { newTerminal } from '../rows.case.ts'
import { listBackups } from './backups.ts'
import { openStore } from './open.ts'
import { repairStore } from './repair.ts'

let folder = ''
let path = ''
const id = 'aaaaaaaa' as TerminalId
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cao-repair-'))
  path = join(folder, 'cao.db')
})
afterEach(() => rmSync(folder, { recursive: true }))

/** A store with a terminal, a message in each of four states, a job and events, and a copy of all that. */
async function fill(): Promise<void> {
  using store = openStore({ path })
  store.terminals.insert(newTerminal(id, { sessionName: 'cao-team' as SessionName }))
  const steps = [
    [],
    ['lease'],
    ['lease', 'begin_typing', 'type'],
    ['lease', 'begin_typing', 'type', 'confirm'],
  ] as const
  for (const [n, each] of steps.entries()) {
    const token = `${n}`.padStart(12, '0') as MessageToken
    const rest = { senderId: 'user', receiverId: id, jobId: undefined, body: 'x', createdAtMs: 1 }
    const { id: messageId } = store.messages.insert({ token, kind: 'send_message', ...rest })
    for (const step of each) store.messages.step(messageId, step, { atMs: 2 })
  }
  store.jobs.insert({
    id: 'job-1111111111111111' as JobId,
    kind: 'assign',
    callerId: undefined,
    profileName: 'developer',
    task: 'count',
    requestKey: undefined,
    deadlineAtMs: 9_000,
    teardown: true,
    request: {},
    retryOf: undefined,
    createdAtMs: 3,
  })
  store.events.append({ type: 'session.created', sessionName: 'cao-team' as SessionName }, 4)
  await store.backUp({ nowMs: 0, everyMs: 1 })
}

const damages: Readonly<Record<string, () => void>> = {
  garbage: () => writeFileSync(path, 'no database at all. '.repeat(500)),
  'cut off': () => writeFileSync(path, readFileSync(path).subarray(0, 5_000)),
  'zeros in the middle': () => writeFileSync(path, readFileSync(path).fill(0, 4_096, 16_384)),
  empty: () => writeFileSync(path, ''),
  removed: () => rmSync(path),
}

test.each(Object.keys(damages))(
  'a file that is damaged (%s) is put aside as it is, and the newest good copy stands in its place',
  async (kind) => {
    await fill()
    const [copy] = listBackups(path)
    // A newer copy that is no good is passed over.
    writeFileSync(`${path}.v1.20991231T000000Z.backup`, 'nonsense')
    damages[kind]?.()
    const before = existsSync(path) ? readFileSync(path) : undefined
    const repaired = repairStore(path)
    expect(repaired).toEqual({
      kind: 'restored',
      broken: before === undefined ? undefined : `${path}.broken`,
      from: copy,
      closedMessages: 3,
      closedJobs: 1,
    })
    if (before !== undefined) expect(readFileSync(`${path}.broken`)).toEqual(before)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    using store = openStore({ path })
    const states = [1, 2, 3, 4].map((n) => store.messages.find(n as MessageId)?.state)
    expect(states).toEqual(['undeliverable', 'undeliverable', 'unconfirmed', 'confirmed'])
    expect(store.messages.find(1 as MessageId)?.detail).toContain('restored from an older copy')
    expect(store.jobs.find('job-1111111111111111' as JobId)).toMatchObject({ state: 'failed', isReported: true })
    expect(store.jobs.listOpen()).toEqual([])
    expect(store.events.lastSeq()).toBe(1_000_001)
    const token = 'ffffffffffff' as MessageToken
    const message = {
      token,
      kind: 'send_message',
      senderId: 'user',
      receiverId: id,
      jobId: undefined,
      body: 'y',
    } as const
    expect(store.messages.insert({ ...message, createdAtMs: 5 }).id).toBe(1_000_005)
  },
)

test('without a good copy an empty store takes its place, and a second damaged file does not take that of the first', async () => {
  writeFileSync(path, 'first. '.repeat(1_000))
  expect(repairStore(path)).toEqual({ kind: 'emptied', broken: `${path}.broken` })
  writeFileSync(path, 'second. '.repeat(1_000))
  expect(repairStore(path)).toEqual({ kind: 'emptied', broken: `${path}.broken-2` })
  expect(readFileSync(`${path}.broken`, 'utf8')).toContain('first')
  using store = openStore({ path })
  expect([store.terminals.list(), store.events.lastSeq()]).toEqual([[], 1_000_000])
})

test('a store that is whole is left as it is, and one of a newer CAO is refused', async () => {
  await fill()
  const before = readdirSync(folder)
  expect(repairStore(path)).toEqual({ kind: 'whole' })
  expect(readdirSync(folder)).toEqual(before)
  const bytes = readFileSync(path)
  bytes.writeUInt32BE(99, 60)
  writeFileSync(path, bytes)
  copyFileSync(path, `${path}.copy`)
  expect(() => repairStore(path)).toThrow('was written by a newer CAO (schema 99')
  expect(readFileSync(path)).toEqual(readFileSync(`${path}.copy`))
})
