/** `settings.json` of the home: what `protocol/options.ts` reads values from, as a file. Whatever else stands in it stays. */
import { AppError } from '../domain/errors.ts'
import type { Settings } from '../protocol/options.ts'
import { type HomeFiles, whileLocked } from './file-lock.ts'
import { readPrivateFile, writePrivateFile } from './private-file.ts'

/** Units: bytes. */
export const settingsBytesMax = 256 * 1_024

/** Empty when there is no file. Errors: BAD_REQUEST for what is no JSON object, TOO_LARGE. */
export async function readSettings(path: string): Promise<Settings> {
  const text = await readPrivateFile(path, settingsBytesMax)
  if (text === undefined || text.trim() === '') return {}
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new AppError('BAD_REQUEST', `${path} is not JSON: ${(error as Error).message}`, { cause: error })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AppError('BAD_REQUEST', `${path} must hold one JSON object, such as {"server": {"port": 9890}}`)
  }
  return value as Settings
}

/** Errors: as `readSettings`, `change` and `whileLocked`; STORAGE_FULL. */
export const updateSettings = (files: HomeFiles, change: (settings: Settings) => Settings): Promise<void> =>
  whileLocked(files, async () => {
    const { settingsFile } = files.layout
    await writePrivateFile(settingsFile, `${JSON.stringify(change(await readSettings(settingsFile)), null, 2)}\n`)
  })
