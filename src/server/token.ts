/** The token of the TCP door: a file that only its owner can read. */
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Reads the token in `path`, or makes one (0600, its folder 0700). */
export async function loadOrCreateToken(path: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const fresh = randomBytes(32).toString('hex')
  try {
    await writeFile(path, `${fresh}\n`, { mode: 0o600, flag: 'wx' })
    return fresh
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const kept = (await readFile(path, 'utf8')).trim()
  if (kept !== '') {
    await chmod(path, 0o600)
    return kept
  }
  await writeFile(path, `${fresh}\n`, { mode: 0o600 })
  return fresh
}
