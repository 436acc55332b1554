/** One option as settings.json has it, whatever flags and environment say beside it. */
import type { HomeFiles } from '../home/file-lock.ts'
import { readSettings, updateSettings } from '../home/settings-file.ts'
import { findOption, type OptionName, parseOption, writeSetting } from '../protocol/options.ts'

/** Its default when the file has none. Errors: BAD_REQUEST for what stands there and is no value. */
export async function readStoredOption(settingsFile: string, name: OptionName): Promise<unknown> {
  return findOption(name, { env: {}, settings: await readSettings(settingsFile) }).value
}

/** Errors: BAD_REQUEST for what is no value of the option; STORAGE_FULL. */
export async function storeOption(files: HomeFiles, name: OptionName, given: unknown): Promise<void> {
  const value = parseOption(name, given)
  await updateSettings(files, (settings) => writeSetting(settings, name, value))
}
