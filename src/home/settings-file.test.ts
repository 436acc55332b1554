import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../async/clock-system.ts'
import { layoutOf } from '../protocol/home.ts'
import { readSettings, settingsBytesMax, updateSettings } from './settings-file.ts'

let dir: string
let path: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'cao-settings-'))
  path = layoutOf(dir).settingsFile
})
afterEach(() => rm(dir, { recursive: true }))

test('no file and an empty file are no settings', async () => {
  expect(await readSettings(path)).toEqual({})
  await writeFile(path, ' \n')
  expect(await readSettings(path)).toEqual({})
})

test('settings are written whole, for their owner only, and read back with what is not ours', async () => {
  const settings = { server: { port: 9_890 }, memory: { enabled: true } }
  await updateSettings({ layout: layoutOf(dir), clock: systemClock }, () => settings)
  expect(await readSettings(path)).toEqual(settings)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(await readdir(dir)).toEqual(['run', 'settings.json'])
  expect(await readFile(path, 'utf8')).toMatch(/\n$/)
})

test.each([
  ['{"server": ', /settings\.json is not JSON: /],
  ['[]', /must hold one JSON object/],
  ['null', /must hold one JSON object/],
])('%s is refused in words', async (content, words) => {
  await writeFile(path, content)
  await expect(readSettings(path)).rejects.toMatchObject({
    code: 'BAD_REQUEST',
    message: expect.stringMatching(words) as unknown,
  })
})

test('a file that is too long, a folder and a named pipe are refused and hold nobody up', async () => {
  await writeFile(path, ' '.repeat(settingsBytesMax + 1))
  await expect(readSettings(path)).rejects.toMatchObject({ code: 'TOO_LARGE' })
  await expect(readSettings(dir)).rejects.toMatchObject({ message: `${dir} is no file` })
  const pipe = join(dir, 'pipe')
  execFileSync('mkfifo', [pipe])
  await expect(readSettings(pipe)).rejects.toMatchObject({ message: `${pipe} is no file` })
})
