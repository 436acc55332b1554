/** The folders that a server needs before it can say anything itself; only a command that starts one reads this. */
import { constants } from 'node:fs'
import { access, mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { HomeLayout } from '../protocol/home.ts'
import { refuseBadHome, toHomeFault } from './home-fault.ts'

/** Makes them, private to the user. Errors: BAD_REQUEST, STORAGE_FULL. */
export async function prepareHome(layout: HomeLayout): Promise<void> {
  refuseBadHome(layout)
  try {
    for (const dir of [layout.home, layout.runDir, layout.logsDir]) {
      await makeFolder(dir)
      await access(dir, constants.W_OK | constants.X_OK)
    }
  } catch (error) {
    throw toHomeFault(error, layout.home)
  }
}

/** With those above it. Not by `recursive`, which never returns where nothing can be made, as in /proc (Node 24.22). */
async function makeFolder(path: string, isParentMade = false): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    if (error.code === 'EEXIST' && (await stat(path)).isDirectory()) return
    if (error.code !== 'ENOENT' || isParentMade || dirname(path) === path) throw error
    await makeFolder(dirname(path))
    await makeFolder(path, true)
  }
}
