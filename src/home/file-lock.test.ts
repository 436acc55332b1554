import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ManualClock } from '../async/clock-manual.ts'
import { systemClock } from '../async/clock-system.ts'
import { layoutOf } from '../protocol/home.ts'
import { readEnvFile, updateEnvFile } from './env-file.ts'
import { fileLockLimitMs, type HomeFiles, whileLocked } from './file-lock.ts'
import { readSettings, updateSettings } from './settings-file.ts'

let files: HomeFiles
let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'cao-lock-'))
  files = { layout: layoutOf(home), clock: systemClock }
})
afterEach(() => rm(home, { recursive: true }))

test('of changes at the same moment none is lost', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `V${index}`)
  await Promise.all(
    names.flatMap((name) => [
      updateEnvFile(files, (kept) => ({ ...kept, [name]: 'x' })),
      updateSettings(files, (settings) => ({ ...settings, [name]: 'x' })),
    ]),
  )
  const all = Object.fromEntries(names.map((name) => [name, 'x']))
  expect(await readEnvFile(files.layout.envFile)).toEqual(all)
  expect(await readSettings(files.layout.settingsFile)).toEqual(all)
  expect((await stat(files.layout.filesLock)).mode & 0o777).toBe(0o600)
})

test('a change that fails frees the files, and what would come before a bad one is not done', async () => {
  await expect(whileLocked(files, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  let isDone = false
  const before = () => {
    isDone = true
    return Promise.resolve()
  }
  await expect(updateEnvFile(files, () => ({ A: '\r' }), before)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  expect(isDone).toBe(false)
  await updateEnvFile(files, () => ({ A: 'x' }), before)
  expect(isDone).toBe(true)
})

test('whoever waits too long is told for what', async () => {
  const clock = new ManualClock()
  await whileLocked(files, async () => {
    const waits = whileLocked({ ...files, clock }, () => Promise.resolve())
    const refused = expect(waits).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: expect.stringContaining(files.layout.filesLock) as unknown,
    })
    await clock.advance(fileLockLimitMs)
    await refused
  })
})
