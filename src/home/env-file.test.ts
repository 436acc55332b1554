import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../async/clock-system.ts'
import { AppError } from '../domain/errors.ts'
import { layoutOf } from '../protocol/home.ts'
import { readEnvFile, updateEnvFile, type Variables } from './env-file.ts'

let dir: string
let path: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'cao-env-'))
  path = layoutOf(join(dir, 'home')).envFile
})
afterEach(() => rm(dir, { recursive: true }))

const writeEnvFile = (variables: Variables): Promise<void> =>
  updateEnvFile({ layout: layoutOf(join(dir, 'home')), clock: systemClock }, () => variables)

test('any value comes back as it was written, or is refused without being shown', async () => {
  const piece = fc.constantFrom(
    'a',
    ' ',
    '#',
    '=',
    "'",
    '"',
    '`',
    '\n',
    '\\n',
    '$X',
    '${Y}',
    'é',
    '\t',
    'B=1',
    '\r',
    '\0',
  )
  const value = fc.array(piece, { maxLength: 8 }).map((parts) => parts.join(''))
  await fc.assert(
    fc.asyncProperty(value, value, async (one, other) => {
      try {
        await writeEnvFile({ ONE: one, OTHER_2: other })
      } catch (error) {
        expect(error).toBeInstanceOf(AppError)
        expect((error as AppError).message).toMatch(/^the value of (ONE|OTHER_2) can not be kept: it holds all three/)
        return
      }
      expect(await readEnvFile(path)).toEqual({ ONE: one, OTHER_2: other })
    }),
    { numRuns: 200 },
  )
})

test('the file and its folder are for their owner only, and no half-written one is left', async () => {
  await writeEnvFile({ KEY: 'secret' })
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect((await stat(join(dir, 'home'))).mode & 0o777).toBe(0o700)
  await expect(writeEnvFile({ KEY: 'x'.repeat(2_049) })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  expect(await readdir(join(dir, 'home'))).toEqual(['.env', 'run'])
  expect(await readEnvFile(path)).toEqual({ KEY: 'secret' })
})

test('a file of somebody else is read: comments, export, quotes; what is no name is left out', async () => {
  const other = join(dir, 'other.env')
  await writeFile(other, '\uFEFF# theirs\nexport TOKEN="a b"\nMODEL=small # cheap\nA-B=1\n1C=2\n')
  expect(await readEnvFile(other)).toEqual({ TOKEN: 'a b', MODEL: 'small' })
  expect(await readEnvFile(join(dir, 'nothing'))).toEqual({})
})

test('what can not be read as such a file is refused by its path', async () => {
  await expect(readEnvFile(dir)).rejects.toMatchObject({ code: 'BAD_REQUEST', message: `${dir} is no file` })
  const long = join(dir, 'long')
  await writeFile(long, 'x'.repeat(300 * 1_024))
  await expect(readEnvFile(long)).rejects.toMatchObject({ code: 'TOO_LARGE' })
})
