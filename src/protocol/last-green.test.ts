import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { formatVersions, lastGreen } from './last-green.ts'

test('docs/versions.md is the list of the code', () => {
  const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'versions.md'), 'utf8')
  expect(text).toBe(formatVersions(lastGreen))
})

test('one row for each CLI and size', () => {
  const keys = lastGreen.map(({ provider, size }) => `${provider} ${size}`)
  expect(new Set(keys).size).toBe(keys.length)
})
