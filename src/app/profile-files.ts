/**
 * Agent profiles as files: where they are looked for, how one is read, and what is said when it can not be.
 *
 * The stores are asked in order and the first that has the name wins; the built-in ones come last, so that a
 * person can replace them. A name is checked before it becomes a path, and a link that leads out of its store
 * is refused: a profile's name may come from an agent.
 *
 * `parse-profile.ts` knows the format; this file knows the disk.
 */
import { constants } from 'node:fs'
import { open, readdir, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '../domain/errors.ts'
import { type Profile, profileNamePattern } from '../domain/profile.ts'
import { parseProfile } from './parse-profile.ts'

/** A longer system prompt than this is a mistake, not a profile. Units: bytes. */
export const profileBytesMax = 256 * 1024
/** Files of one store that are listed; the rest can still be loaded by name. */
export const profilesPerStoreMax = 1_000

export type ProfileFilesOptions = {
  readonly builtInDir: string
  /** Asked before the built-in ones, in this order. A directory that does not exist is an empty store. */
  readonly storeDirs: readonly string[]
}

export interface ProfileFiles {
  /** Every profile that can be read, by name; of two with one name the one that `load` would give. Files with faults are left out. */
  list(): Promise<readonly Profile[]>
  /** Errors: PROFILE_UNKNOWN (its message and `data.available` name those there are), PROFILE_INVALID with file, line and field. */
  load(name: string): Promise<Profile>
}

type Store = { readonly dir: string; readonly isBuiltIn: boolean }

export function createProfileFiles(options: ProfileFilesOptions): ProfileFiles {
  const stores: readonly Store[] = [
    ...options.storeDirs.map((dir) => ({ dir, isBuiltIn: false })),
    { dir: options.builtInDir, isBuiltIn: true },
  ]
  return {
    list: () => listProfiles(stores),
    load: (name) => loadProfile(stores, name),
  }
}

async function loadProfile(stores: readonly Store[], name: string): Promise<Profile> {
  if (profileNamePattern.test(name)) {
    for (const store of stores) {
      const profile = await readProfile(store, name)
      if (profile !== undefined) return profile
    }
  }
  const available = await listNames(stores)
  const asked = profileNamePattern.test(name) ? `no profile is called ${name}` : 'that is no name of a profile'
  const own = stores[0]?.dir ?? ''
  throw new AppError(
    'PROFILE_UNKNOWN',
    `${asked}; there are: ${available.join(', ') || '(none)'}. A profile of your own is a file NAME.md in ${own}.`,
    { data: { available } },
  )
}

async function listProfiles(stores: readonly Store[]): Promise<readonly Profile[]> {
  const profiles: Profile[] = []
  for (const name of await listNames(stores)) {
    try {
      profiles.push(await loadProfile(stores, name))
    } catch (error) {
      // A file with a fault is reported when it is asked for by name; it must not hide the others here.
      if (!(error instanceof AppError)) throw error
    }
  }
  return profiles
}

async function listNames(stores: readonly Store[]): Promise<readonly string[]> {
  const names = new Set<string>()
  for (const { dir } of stores) {
    for (const name of await listStore(dir)) names.add(name)
  }
  return [...names].toSorted()
}

async function listStore(dir: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(dir)
    return entries
      .filter((entry) => entry.endsWith('.md') && profileNamePattern.test(entry.slice(0, -3)))
      .map((entry) => entry.slice(0, -3))
      .toSorted()
      .slice(0, profilesPerStoreMax)
  } catch (error) {
    if (isAbsence(error)) return []
    throw unreadable(dir, error)
  }
}

/** Undefined when this store has no profile of that name. */
async function readProfile(store: Store, name: string): Promise<Profile | undefined> {
  const file = join(store.dir, `${name}.md`)
  try {
    // The built-in store of a package may itself be a tree of links; a person's store must keep its files inside.
    if (!store.isBuiltIn && dirname(await realpath(file)) !== (await realpath(store.dir))) {
      throw new AppError(
        'PROFILE_INVALID',
        `${file} leads out of its folder: copy the profile there instead of linking it`,
      )
    }
    const text = await readBounded(file)
    return parseProfile({ name, text, file, source: store.isBuiltIn ? 'built-in' : file })
  } catch (error) {
    if (error instanceof AppError) throw error
    if (isAbsence(error)) return undefined
    throw unreadable(file, error)
  }
}

async function readBounded(file: string): Promise<string> {
  // Non-blocking, so that a FIFO with this name can not hold the reader.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = await handle.stat()
    if (!stats.isFile()) throw new AppError('PROFILE_INVALID', `${file} is not a file`)
    const buffer = Buffer.alloc(profileBytesMax + 1)
    let length = 0
    while (length < buffer.length) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length)
      if (bytesRead === 0) break
      length += bytesRead
    }
    if (length > profileBytesMax) {
      throw new AppError('PROFILE_INVALID', `${file} is larger than ${profileBytesMax / 1024} KiB: shorten its text`)
    }
    return new TextDecoder('utf-8').decode(buffer.subarray(0, length))
  } finally {
    await handle.close()
  }
}

function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

const isAbsence = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')

function unreadable(path: string, error: unknown): unknown {
  const code = errorCode(error)
  if (code === undefined) return error
  return new AppError('PROFILE_INVALID', `${path} can not be read (${code}): check its permissions`, { cause: error })
}
