/**
 * Agent profiles as files: where they are looked for, how one is read, and what is said when it can not be.
 *
 * The stores are asked in order and the first that has the name wins; the built-in ones come last, so that a
 * person can replace them. A name is checked before it becomes a path, and a link that leads out of its store
 * is refused: a profile's name may come from an agent.
 *
 * `home/profile-stores.ts` says which folders are stores, `parse-profile.ts` knows the format; this file knows the disk.
 */
import { constants } from 'node:fs'
import { open, readdir, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { AppError } from '../domain/errors.ts'
import { type Profile, type ProfileRules, profileNamePattern } from '../domain/profile.ts'
import type { ProfileStore, ProfileStores } from '../home/profile-stores.ts'
import { parseProfile } from './parse-profile.ts'

/** A longer system prompt than this is a mistake, not a profile. Units: bytes. */
export const profileBytesMax = 256 * 1024
/** Files of one store that are listed; the rest can still be loaded by name. */
export const profilesPerStoreMax = 1_000

/** What a list tells of a profile. */
export type ListedProfile = Pick<Profile, 'name' | 'description' | 'capabilities' | 'tags' | 'role' | 'provider'> & {
  /** Label of its store. */
  readonly source: string
  /** Empty: it can not be read at all. */
  readonly file: string
  /** Why it can not be loaded; undefined: it can. */
  readonly fault: string | undefined
  /** Labels of the other stores that have a profile of this name, which this one hides. */
  readonly duplicatedIn: readonly string[]
}

/** A profile as it was found, not read yet. */
export type FoundProfile = { readonly store: ProfileStore; readonly file: string; readonly text: string }

export interface ProfileFiles {
  /** Every profile, by name; of several with one name the one that `load` would give. One with a fault is listed with it. */
  list(): Promise<readonly ListedProfile[]>
  /** For a launch: variables filled in. Errors: PROFILE_UNKNOWN (its message and `data.available` name those there are), PROFILE_INVALID with file, line and field. */
  load(name: string): Promise<Profile>
  /** For those who look: variables, which may be secrets, stay names. Errors: as `load`. */
  inspect(name: string): Promise<Profile>
  /** The file itself. Errors: as `load`, but nothing is read in it. */
  find(name: string): Promise<FoundProfile>
  /** Roles and variables that a profile may name. */
  rules(): Promise<ProfileRules>
}

export function createProfileFiles(places: ProfileStores): ProfileFiles {
  const find = async (name: string) => findProfile(await places.stores(), name)
  const parse = (found: FoundProfile, name: string, rules: ProfileRules) =>
    parseProfile({ name, text: found.text, file: found.file, source: sourceOf(found) }, rules)
  return {
    list: async () => listProfiles(await places.stores(), await places.rules()),
    load: async (name) => parse(await find(name), name, await places.rules()),
    inspect: async (name) => parse(await find(name), name, { ...(await places.rules()), isForShow: true }),
    find,
    rules: () => places.rules(),
  }
}

const sourceOf = ({ store, file }: FoundProfile): string => (store.isBuiltIn ? store.label : file)

async function findProfile(stores: readonly ProfileStore[], name: string): Promise<FoundProfile> {
  if (profileNamePattern.test(name)) {
    for (const store of stores) {
      const found = await readFromStore(store, name)
      if (found !== undefined) return found
    }
  }
  const available = [...(await listNames(stores)).keys()].toSorted()
  const asked = profileNamePattern.test(name) ? `no profile is called ${name}` : 'that is no name of a profile'
  const own = stores[0]?.dir ?? ''
  throw new AppError(
    'PROFILE_UNKNOWN',
    `${asked}; there are: ${available.join(', ') || '(none)'}. A profile of your own is a file NAME.md in ${own}.`,
    { data: { available } },
  )
}

async function listProfiles(stores: readonly ProfileStore[], rules: ProfileRules): Promise<readonly ListedProfile[]> {
  const listed: ListedProfile[] = []
  for (const [name, having] of [...(await listNames(stores))].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const duplicatedIn = having.slice(1).map(({ label }) => label)
    const blank = { name, description: '', capabilities: [], tags: [], role: undefined, provider: undefined }
    const source = having[0]?.label ?? ''
    let file = ''
    try {
      const found = await findProfile(having, name)
      const { text } = found
      file = found.file
      const profile = parseProfile({ name, text, file, source: sourceOf(found) }, { ...rules, isForShow: true })
      const { description, capabilities, tags, role, provider } = profile
      const told = { name, description, capabilities, tags, role, provider }
      listed.push({ ...told, source: found.store.label, file, fault: undefined, duplicatedIn })
    } catch (error) {
      // A file with a fault must not hide the others.
      if (!(error instanceof AppError)) throw error
      listed.push({ ...blank, source, file, fault: error.message, duplicatedIn })
    }
  }
  return listed
}

/** Every name with the stores that have it, the first first. */
async function listNames(stores: readonly ProfileStore[]): Promise<ReadonlyMap<string, readonly ProfileStore[]>> {
  const names = new Map<string, ProfileStore[]>()
  for (const store of stores) {
    for (const name of await listStore(store)) names.set(name, [...(names.get(name) ?? []), store])
  }
  return names
}

/** A store that can not be listed counts as empty here; whoever asks for a profile in it by name is told why. */
async function listStore(store: ProfileStore): Promise<readonly string[]> {
  const entries = await readdir(store.dir, { withFileTypes: true }).catch(acceptSystemFault)
  const names = new Set<string>()
  for (const entry of entries ?? []) {
    const name = entry.name.endsWith('.md') ? entry.name.slice(0, -3) : entry.name
    if (!profileNamePattern.test(name)) continue
    const isNested = store.isNested && !entry.name.endsWith('.md') && entry.isDirectory()
    if (entry.name.endsWith('.md') || (isNested && (await hasAgentFile(store.dir, name)))) names.add(name)
  }
  return [...names].toSorted().slice(0, profilesPerStoreMax)
}

async function hasAgentFile(dir: string, name: string): Promise<boolean> {
  const entries = await readdir(join(dir, name)).catch(acceptSystemFault)
  return entries?.includes('agent.md') === true
}

/** Undefined when this store has no profile of that name. */
async function readFromStore(store: ProfileStore, name: string): Promise<FoundProfile | undefined> {
  const flat = join(store.dir, `${name}.md`)
  for (const file of store.isNested ? [flat, join(store.dir, name, 'agent.md')] : [flat]) {
    try {
      // The built-in store of a package may itself be a tree of links; a person's store must keep its files inside.
      if (!store.isBuiltIn && !(await realpath(file)).startsWith((await realpath(store.dir)) + sep)) {
        throw new AppError(
          'PROFILE_INVALID',
          `${file} leads out of its folder: copy the profile there instead of linking it`,
        )
      }
      return { store, file, text: await readProfileText(file) }
    } catch (error) {
      if (error instanceof AppError) throw error
      if (!isAbsence(error)) throw unreadable(file, error)
    }
  }
  return undefined
}

/** Errors: PROFILE_INVALID for what is no file, too large or no UTF-8; the system's own otherwise. */
async function readProfileText(file: string): Promise<string> {
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
    return decodeProfile(buffer.subarray(0, length), file)
  } finally {
    await handle.close()
  }
}

/** Errors: PROFILE_INVALID. */
export function decodeProfile(bytes: Uint8Array, file: string): string {
  if (bytes.length > profileBytesMax) {
    throw new AppError('PROFILE_INVALID', `${file} is larger than ${profileBytesMax / 1024} KiB: shorten its text`)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new AppError('PROFILE_INVALID', `${file} is not UTF-8: save it in that encoding`, { cause })
  }
}

function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

const isAbsence = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')

function acceptSystemFault(error: unknown): undefined {
  if (errorCode(error) === undefined) throw error
}

function unreadable(path: string, error: unknown): unknown {
  const code = errorCode(error)
  if (code === undefined) return error
  return new AppError('PROFILE_INVALID', `${path} can not be read (${code}): check its permissions`, { cause: error })
}
