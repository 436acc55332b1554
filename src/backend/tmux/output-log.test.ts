import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../async/clock-system.ts'
import type { TerminalId } from '../../domain/ids.ts'
import type { PaneFacts } from '../../tmux/pane-fields.ts'
import { until } from '../conformance.case.ts'
import { terminalFiles } from './launch-files.ts'
import { readLogStart, trimLog } from './log-trim.ts'
import { logLength, OutputFollower, readLog } from './output-log.ts'
import { Tidier } from './tidy.ts'

const clock = systemClock
let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'cao-log-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

function startFollowing(path: string, fromOffset = 0) {
  const seen: string[] = []
  const errors: unknown[] = []
  const follower = new OutputFollower({
    clock,
    path,
    fromOffset,
    listener: (chunk) =>
      seen.push(
        `${chunk.offset}${chunk.gapBytes > 0 ? ` after ${chunk.gapBytes}` : ''}: ${Buffer.from(chunk.bytes).toString()}`,
      ),
    onError: (error) => errors.push(error),
  })
  const has = (count: number) =>
    until(`${count} chunks, not ${JSON.stringify(seen)}`, () => (seen.length >= count ? true : undefined))
  return { seen, errors, follower, has }
}

describe('following a log', () => {
  test('it may start before the file is there, and is woken or looks by itself', async () => {
    const path = join(dir, 'late')
    const { seen, follower, has } = startFollowing(path)
    using _follower = follower
    writeFileSync(path, 'one')
    follower.wake()
    await has(1)
    appendFileSync(path, 'two')
    // Nobody wakes it: it looks every two seconds.
    await has(2)
    expect(seen).toEqual(['0: one', '3: two'])
  })

  test('a replaced file is read to the end of the old one first, and the gap is told with the first new bytes', async () => {
    const path = join(dir, 'replaced')
    writeFileSync(path, 'old')
    const { seen, follower, has } = startFollowing(path)
    using _follower = follower
    await has(1)
    appendFileSync(path, ' rest')
    renameSync(path, `${path}.moved`)
    writeFileSync(path, '')
    follower.wake()
    await has(2)
    appendFileSync(path, 'new')
    follower.wake()
    await has(3)
    expect(seen).toEqual(['0: old', '3:  rest', '0 after 8: new'])
  })

  test('a file that became shorter is begun anew, with the gap', async () => {
    const path = join(dir, 'cut')
    writeFileSync(path, '0123456789')
    const { seen, follower, has } = startFollowing(path)
    using _follower = follower
    await has(1)
    truncateSync(path, 4)
    follower.wake()
    await has(2)
    expect(seen).toEqual(['0: 0123456789', '0 after 6: 0123'])
  })

  test('an error of the listener is told and the next bytes come all the same', async () => {
    const path = join(dir, 'throws')
    writeFileSync(path, 'bad')
    const errors: unknown[] = []
    const seen: string[] = []
    using follower = new OutputFollower({
      clock,
      path,
      fromOffset: 0,
      listener: (chunk) => {
        const text = Buffer.from(chunk.bytes).toString()
        if (text === 'bad') throw new Error('listener failed')
        seen.push(text)
      },
      onError: (error) => errors.push(error),
    })
    await until('the error', () => (errors.length === 1 ? true : undefined))
    appendFileSync(path, 'good')
    follower.wake()
    await until('the rest', () => (seen.length === 1 ? true : undefined))
    expect(seen).toEqual(['good'])
  })
})

describe('trimming a log', () => {
  const mebibyte = 1024 * 1024
  const limits = { allocatedMax: mebibyte, kept: mebibyte / 2 }
  const content = Buffer.alloc(2 * mebibyte, 'x')

  test('a small log stays, a big one gives its head back and keeps its offsets; what nobody read stays', async () => {
    const path = join(dir, 'big')
    writeFileSync(path, content.subarray(0, mebibyte / 2))
    expect(await trimLog({ clock, logPath: path, readUpTo: mebibyte, limits })).toBe('small-enough')
    writeFileSync(path, content)
    expect(await trimLog({ clock, logPath: path, readUpTo: 0, limits })).toBe('small-enough')
    expect(await trimLog({ clock, logPath: path, readUpTo: 10_000, limits })).toBe('trimmed')
    expect(readLogStart(path)).toBe(8_192)
    expect(await trimLog({ clock, logPath: path, readUpTo: content.length, limits })).toBe('trimmed')
    expect(readLogStart(path)).toBe(1.5 * mebibyte)
    expect(await logLength(path)).toBe(content.length)
    expect(statSync(path).blocks * 512).toBeLessThanOrEqual(mebibyte)
  })

  test('a log that nobody reads is bounded, too: by a look now and then at the panes that nobody watches', async () => {
    const files = ['aaaaaaaa', 'bbbbbbbb'].map((id) => terminalFiles(dir, id as TerminalId))
    for (const { dir: folder, log } of files) {
      mkdirSync(folder)
      execFileSync('fallocate', ['-l', '260MiB', log])
    }
    const panes = [{ tag: 'aaaaaaaa' }, { tag: 'bbbbbbbb' }, { tag: '' }] as unknown as readonly PaneFacts[]
    const tidier = new Tidier(clock, 'keeper', dir)
    expect(tidier.isDue).toBe(true)
    await tidier.trimUnread(panes, new Set(['bbbbbbbb']))
    expect(tidier.isDue).toBe(false)
    expect(files.map(({ log }) => readLogStart(log) / mebibyte)).toEqual([228, 0])
    expect(statSync(files[0]?.log ?? '').blocks * 512).toBeLessThanOrEqual(33 * mebibyte)
  })

  test('no reader sees the hole: reads begin after it, and a follower is told what is missing', async () => {
    const path = join(dir, 'hole')
    writeFileSync(path, content)
    await trimLog({ clock, logPath: path, readUpTo: content.length, limits })
    const start = 1.5 * mebibyte
    expect((await readLog(path, 0, content.length)).length).toBe(content.length - start)
    expect(Buffer.from(await readLog(path, start - 10, 20)).toString()).toBe('x'.repeat(10))
    expect((await readLog(path, 0, 100)).length).toBe(0)
    const { seen, follower, has } = startFollowing(path, 100)
    using _follower = follower
    await has(1)
    expect(seen[0]?.slice(0, 30)).toBe(`${start} after ${start - 100}: ${'x'.repeat(30)}`.slice(0, 30))
    expect(seen.join('')).not.toContain('\0')
  })
})
