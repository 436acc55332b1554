/** Finding an agent's program: on the PATH of the launching client, else a copy that CAO installed for itself. */
import { access, constants } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
import type { ProgramOutcome } from './provider.ts'

export type FindOptions = {
  readonly name: string
  /** The client's; relative places in it are passed over. */
  readonly path: string | undefined
  readonly ownProgram: string | undefined
  readonly hint: string
}

export async function findOnPath({ name, path = '', ownProgram, hint }: FindOptions): Promise<ProgramOutcome> {
  const dirs = path.split(delimiter).filter((dir) => isAbsolute(dir))
  const places = [...dirs.map((dir) => join(dir, name)), ...(ownProgram === undefined ? [] : [ownProgram])]
  for (const place of places) {
    if (await isExecutable(place)) return { kind: 'found', path: place }
  }
  return { kind: 'missing', hint }
}

export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
