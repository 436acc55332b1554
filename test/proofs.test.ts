/** The tables that name a test for each danger, each threat and each reported fault: complete, and naming tests and files that exist. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const rowsOf = (path: string): readonly string[] =>
  readFileSync(join(root, path), 'utf8')
    .split('\n')
    .filter((line) => /^\| (?!---)[^|]/.test(line) && !/^\| (What|\|) /.test(line))

/** Proofs of a row that name no test of that file; a row without any proof. */
function faultsOf(row: string): readonly string[] {
  const cell = row.split('|').at(-2) ?? ''
  if (cell.includes('by review: ')) return []
  const found = [...cell.matchAll(/(?:`([^`]+\.test\.ts)` )?"([^"]+)"/g)]
  if (found.length === 0) return [`no proof: ${row.slice(0, 60)}`]
  let path = ''
  return found.flatMap(([, file, name = '']) => {
    path = file ?? path
    const text = existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : ''
    const isThere = text.includes(name) || text.includes(name.replaceAll("'", "\\'"))
    return isThere ? [] : [`${path}: no test "${name}"`]
  })
}

describe('docs/tmux-dangers.md', () => {
  const rows = rowsOf('docs/tmux-dangers.md')

  test('has a row for each of K1 to K20', () => {
    const names = rows.flatMap((row) => /^\| (K\d+) \|/.exec(row)?.[1] ?? [])
    expect(names).toEqual(Array.from({ length: 20 }, (_, index) => `K${index + 1}`))
  })

  test('names tests that exist', () => {
    expect(rows.flatMap(faultsOf)).toEqual([])
  })
})

describe('docs/bug-cases.md', () => {
  const rows = rowsOf('docs/bug-cases.md')

  test('has each report once', () => {
    const names = rows.flatMap((row) => /^\| ([A-Z]{2,3}-\d\d) \|/.exec(row)?.[1] ?? [])
    expect(names.length).toBe(118)
    expect(new Set(names).size).toBe(names.length)
  })

  test('names tests that exist', () => {
    expect(rows.flatMap(faultsOf)).toEqual([])
  })
})

describe('THREATS.md', () => {
  const rows = rowsOf('THREATS.md').filter((row) => /^\| T\d/.test(row))

  test('numbers its threats without a gap', () => {
    expect(rows.length).toBeGreaterThan(30)
    expect(rows.map((row) => row.split('|')[1]?.trim())).toEqual(rows.map((_, index) => `T${index + 1}`))
  })

  test('names tests that exist', () => {
    expect(rows.flatMap(faultsOf)).toEqual([])
  })

  test('names places in the code that exist', () => {
    const places = rows.flatMap((row) =>
      [...(row.split('|').at(-3) ?? '').matchAll(/`([^`]+)`/g)].map(([, path]) => path),
    )
    expect(places.length).toBeGreaterThan(rows.length)
    expect(places.filter((path = '') => !existsSync(join(root, path)))).toEqual([])
  })
})

test('a row without a proof, and one that names no test, would be seen', () => {
  expect(faultsOf('| X | nothing |')).toHaveLength(1)
  expect(faultsOf('| X | `test/proofs-that-are-not.test.ts` "no such name" |')).toHaveLength(1)
})
