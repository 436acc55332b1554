/**
 * What the server process takes from its flags, its environment and settings.json; read once, passed in, never read again.
 * The options themselves are the table in `protocol/options.ts`.
 */
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../domain/errors.ts'
import { readSettings } from '../home/settings-file.ts'
import { type HomeLayout, layoutOf, resolveHome, upstreamHome } from '../protocol/home.ts'
import { findOption, type OptionValues, readOptions, unknownSettings } from '../protocol/options.ts'

export type ServerConfig = {
  readonly layout: HomeLayout
  readonly options: OptionValues
  /** Somebody named the port; the default one may be missing. */
  readonly isPortChosen: boolean
  readonly isAuthOff: boolean
  /** HOME, for the folders that other programs have there. */
  readonly userHome: string
  /** Read, never written. */
  readonly upstreamHome: string
  readonly skillStoreDirs: readonly string[]
  readonly tempDir: string
  readonly runtimeDir: string | undefined
  readonly env: Readonly<Record<string, string>>
  /** What stands in settings.json and is no option of ours. */
  readonly unknownSettings: readonly string[]
}

type Env = Readonly<Record<string, string | undefined>>

const loopback = new Set(['127.0.0.1', 'localhost', '::1'])

/** Errors: BAD_REQUEST naming the variable or the setting. */
export async function readServerConfig(
  env: Env,
  flags: { readonly host?: string; readonly port?: string; readonly noAuth?: boolean },
): Promise<ServerConfig> {
  const userHome = env['HOME'] ?? homedir()
  const layout = layoutOf(resolveHome(env, userHome))
  const upstream = layoutOf(upstreamHome(env, userHome))
  const settings = await readSettings(layout.settingsFile)
  const sources = { flags: { 'server.host': flags.host, 'server.port': flags.port }, env, settings }
  const expand = (dirs: readonly string[]) =>
    dirs.map((dir) => (dir.startsWith('~/') ? join(userHome, dir.slice(2)) : dir))
  const given = readOptions(sources)
  const options: OptionValues = {
    ...given,
    'agents.extra_dirs': expand(given['agents.extra_dirs']),
    'skills.extra_dirs': expand(given['skills.extra_dirs']),
  }
  const host = options['server.host']
  if (!loopback.has(host)) {
    throw new AppError('BAD_REQUEST', `CAO listens on this machine only: ${host} is no loopback address; use 127.0.0.1`)
  }
  return {
    layout,
    options,
    isPortChosen: findOption('server.port', sources).source !== 'default',
    isAuthOff: flags.noAuth === true,
    userHome,
    upstreamHome: upstream.home,
    skillStoreDirs: [
      layout.skillsDir,
      upstream.skillsDir,
      ...options['skills.extra_dirs'],
      ...expand(await upstreamSkillDirs(upstream.settingsFile)),
    ],
    tempDir: tmpdir(),
    runtimeDir: env['XDG_RUNTIME_DIR'],
    env: Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)),
    unknownSettings: unknownSettings(settings),
  }
}

/** What is odd in it is passed over: the file is not ours to complain about. */
async function upstreamSkillDirs(settingsFile: string): Promise<readonly string[]> {
  try {
    const { value } = findOption('skills.extra_dirs', { env: {}, settings: await readSettings(settingsFile) })
    return value as readonly string[]
  } catch (error) {
    if (error instanceof AppError) return []
    throw error
  }
}
