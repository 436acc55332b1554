import {
  chmodSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createLogFile } from './log-file.ts'

let folder = ''
let path = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cao-log-'))
  path = join(folder, 'server.log')
})
afterEach(() => rmSync(folder, { recursive: true }))

test('the log and the one before it are all there is, for their owner alone, and together they hold the newest lines whole', () => {
  const write = createLogFile(path, 10_000)
  for (let n = 0; n < 5_000; n++) write(`line ${n}`)
  expect(readdirSync(folder).toSorted()).toEqual(['server.log', 'server.log.1'])
  for (const name of readdirSync(folder)) {
    expect(statSync(join(folder, name)).size).toBeLessThan(11_000)
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
  }
  const lines = (readFileSync(`${path}.1`, 'utf8') + readFileSync(path, 'utf8')).trimEnd().split('\n')
  expect(lines.at(-1)).toBe('line 4999')
  expect(lines).toEqual(Array.from({ length: lines.length }, (_, n) => `line ${5_000 - lines.length + n}`))
})

test('what another descriptor appends stands in the same file after the move', () => {
  writeFileSync(path, 'old '.repeat(5_000))
  chmodSync(path, 0o600)
  const stderr = openSync(path, 'a')
  createLogFile(path, 10_000)('a line')
  writeSync(stderr, 'last words\n')
  expect(readFileSync(path, 'utf8')).toBe('a line\nlast words\n')
})
