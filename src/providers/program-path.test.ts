import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { findOnPath } from './program-path.ts'

const folder = mkdtempSync(join(tmpdir(), 'cao-program-path-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function makeProgram(dir: string, mode: number): string {
  mkdirSync(join(folder, dir))
  const path = join(folder, dir, 'agent')
  writeFileSync(path, '')
  chmodSync(path, mode)
  return path
}
makeProgram('plain', 0o644)
const [first, second, own] = ['first', 'second', 'own'].map((dir) => makeProgram(dir, 0o755))
const find = (dirs: readonly string[] | undefined, ownProgram?: string) =>
  findOnPath({ name: 'agent', path: dirs?.join(':'), ownProgram, hint: 'make it' })
const at = (dir: string) => join(folder, dir)

it.each([
  ['the first on the PATH that can be run', [at('plain'), at('none'), at('first'), at('second')], own, first],
  ['what is on the PATH before a copy of our own', [at('second')], own, second],
  ['a copy of our own when the PATH has none', [at('plain')], own, own],
  ['a copy of our own when there is no PATH', undefined, own, own],
])('finds %s', async (_, dirs, ownProgram, path) => {
  expect(await find(dirs, ownProgram)).toEqual({ kind: 'found', path })
})

it('passes over relative places, and says how to get what is nowhere', async () => {
  expect(await find(['.', '', 'first'])).toEqual({ kind: 'missing', hint: 'make it' })
})
