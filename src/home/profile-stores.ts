/**
 * Where profiles lie, in the order in which they are asked for, and the roles and variables that they may name.
 *
 * Ours first, then upstream's home as it is, in upstream's own order: its agent-store, the folders of its settings (those of
 * the CLIs, where a profile may also be NAME/agent.md), more folders of ours and of its settings, and the built-in ones.
 * Upstream's settings.json and .env are read anew each time and never written; what is odd in them is passed over, since
 * the file is not ours to complain about.
 */
import { isAbsolute, join } from 'node:path'
import { AppError } from '../domain/errors.ts'
import type { ProfileRules, RoleTable } from '../domain/profile.ts'
import { readEnvFile } from './env-file.ts'
import { readSettings } from './settings-file.ts'

export type ProfileStore = {
  readonly dir: string
  /** What a list calls it. */
  readonly label: string
  /** A profile may also be a folder with `agent.md` in it. */
  readonly isNested: boolean
  readonly isBuiltIn: boolean
}

export interface ProfileStores {
  stores(): Promise<readonly ProfileStore[]>
  rules(): Promise<ProfileRules>
}

export type ProfilePlaces = {
  readonly agentStoreDir: string
  readonly settingsFile: string
  readonly envFile: string
  readonly builtInDir: string
  /** Of the settings of ours. */
  readonly extraDirs: readonly string[]
  readonly userHome: string
  /** Undefined: there is none to read. */
  readonly upstreamHome: string | undefined
}

type Json = Readonly<Record<string, unknown>>

export function createProfileStores(places: ProfilePlaces): ProfileStores {
  const { upstreamHome } = places
  const upstreamSettings = async () =>
    upstreamHome === undefined ? {} : readForeign(join(upstreamHome, 'settings.json'))
  return {
    async stores() {
      const ours = [{ dir: places.agentStoreDir, label: 'local', isNested: false, isBuiltIn: false }]
      const more = places.extraDirs.map((dir) => nested(dir, 'custom'))
      const theirs = upstreamHome === undefined ? [] : upstreamStores(upstreamHome, await upstreamSettings(), places)
      const builtIn = { dir: places.builtInDir, label: 'built-in', isNested: false, isBuiltIn: true }
      const isExtra = ({ label }: ProfileStore) => label === 'custom'
      const all = [...ours, ...theirs.filter((one) => !isExtra(one)), ...more, ...theirs.filter(isExtra), builtIn]
      return all.filter((one, index) => all.findIndex(({ dir }) => dir === one.dir) === index)
    },
    async rules() {
      const ours = rolesOf(await readSettings(places.settingsFile))
      const theirs = rolesOf(await upstreamSettings())
      const foreign = upstreamHome === undefined ? {} : await orEmpty(readEnvFile(join(upstreamHome, '.env')))
      const variables = { ...foreign, ...(await readEnvFile(places.envFile)) }
      return { roles: { ...theirs, ...ours }, variables }
    },
  }
}

const nested = (dir: string, label: string): ProfileStore => ({ dir, label, isNested: true, isBuiltIn: false })

/** As upstream looks for them. Source: reference of its settings, `agents.dirs`, `extra_dirs`, `disabled_dirs`, and the flat names of older versions. */
function upstreamStores(home: string, settings: Json, { userHome }: ProfilePlaces): readonly ProfileStore[] {
  const agents = recordOf(settings['agents'])
  const named = agents['dirs'] === undefined ? recordOf(settings['agent_dirs']) : recordOf(agents['dirs'])
  const store = join(home, 'agent-store')
  const dirs: Json = {
    kiro_cli: join(userHome, '.kiro', 'agents'),
    claude_code: store,
    codex: store,
    cao_installed: join(home, 'agent-context'),
    ...named,
  }
  const expand = (value: unknown): readonly string[] => {
    if (typeof value !== 'string') return []
    const path = value.startsWith('~/') ? join(userHome, value.slice(2)) : value.trim()
    return isAbsolute(path) ? [path.replace(/(?<=.)\/+$/, '')] : []
  }
  const expandAll = (value: unknown): readonly string[] => (Array.isArray(value) ? value.flatMap(expand) : [])
  const labels: Readonly<Record<string, string>> = { kiro_cli: 'kiro', cao_installed: 'installed' }
  const byProvider = Object.entries(dirs).flatMap(([name, value]) =>
    expand(value).map((dir) => nested(dir, labels[name] ?? name)),
  )
  const extra = expandAll(agents['extra_dirs'] ?? settings['extra_agent_dirs']).map((dir) => nested(dir, 'custom'))
  const disabled = new Set(expandAll(agents['disabled_dirs'] ?? settings['disabled_agent_dirs']))
  const first: ProfileStore = { dir: store, label: 'upstream', isNested: false, isBuiltIn: false }
  return [first, ...byProvider.filter(({ dir }) => dir !== store), ...extra].filter(({ dir }) => !disabled.has(dir))
}

/** `agents.roles`, or `roles` as older versions have it: a name and its list of tools. */
function rolesOf(settings: Json): RoleTable {
  const roles = recordOf(recordOf(settings['agents'])['roles'] ?? settings['roles'])
  const isList = (value: unknown): value is readonly string[] =>
    Array.isArray(value) && value.every((item) => typeof item === 'string')
  return Object.fromEntries(
    Object.entries(roles).filter((entry): entry is [string, readonly string[]] => isList(entry[1])),
  )
}

function recordOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
}

const readForeign = (path: string): Promise<Json> => orEmpty(readSettings(path))

async function orEmpty<T extends object>(reading: Promise<T>): Promise<T | Record<string, never>> {
  try {
    return await reading
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return {}
  }
}
