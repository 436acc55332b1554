/** What the server process takes from its environment and its flags; read once, passed in, never read again. */
import { homedir, tmpdir } from 'node:os'
import { AppError } from '../domain/errors.ts'
import { type HomeLayout, layoutOf, resolveHome, upstreamAgentStoreDir } from '../protocol/home.ts'
import { defaultPort } from '../protocol/version.ts'

export type ServerConfig = {
  readonly layout: HomeLayout
  readonly host: string
  /** Undefined: no TCP door. 0: any free port. */
  readonly port: number | undefined
  /** Somebody named it; the default one may be missing. */
  readonly isPortChosen: boolean
  readonly isAuthOff: boolean
  readonly allowedHosts: readonly string[]
  readonly corsOrigins: readonly string[]
  /** Path of a tmux server's socket to use instead of our own; undefined: our own. */
  readonly tmuxSocket: string | undefined
  /** Whether lost agents are taken up again without being asked. */
  readonly isRecoveryAutomatic: boolean
  readonly profileStoreDirs: readonly string[]
  readonly tempDir: string
  readonly runtimeDir: string | undefined
  readonly env: Readonly<Record<string, string>>
}

type Env = Readonly<Record<string, string | undefined>>

const loopback = new Set(['127.0.0.1', 'localhost', '::1'])

/** Errors: BAD_REQUEST naming the variable. */
export function readServerConfig(
  env: Env,
  flags: { readonly host?: string; readonly port?: string; readonly noAuth?: boolean },
): ServerConfig {
  const userHome = env['HOME'] ?? homedir()
  const layout = layoutOf(resolveHome(env, userHome))
  const host = flags.host ?? env['CAO_API_HOST'] ?? '127.0.0.1'
  if (!loopback.has(host)) {
    throw new AppError('BAD_REQUEST', `CAO listens on this machine only: ${host} is no loopback address; use 127.0.0.1`)
  }
  const list = (name: string) =>
    (env[name] ?? '')
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
  return {
    layout,
    host,
    port: readPort(flags.port ?? env['CAO_API_PORT']),
    isPortChosen: (flags.port ?? env['CAO_API_PORT'] ?? '') !== '',
    isAuthOff: flags.noAuth === true,
    allowedHosts: list('CAO_ALLOWED_HOSTS'),
    corsOrigins: list('CAO_CORS_ORIGINS'),
    tmuxSocket: env['CAO_TMUX_SOCKET'] === '' ? undefined : env['CAO_TMUX_SOCKET'],
    isRecoveryAutomatic: readChoice(env, 'CAO_RECOVER', ['manual', 'auto']) === 'auto',
    profileStoreDirs: [layout.agentStoreDir, upstreamAgentStoreDir(userHome)],
    tempDir: tmpdir(),
    runtimeDir: env['XDG_RUNTIME_DIR'],
    env: Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)),
  }
}

/** One of `choices`; the first when unset. */
function readChoice(env: Env, name: string, choices: readonly string[]): string {
  const text = env[name]
  if (text === undefined || text === '') return choices[0] ?? ''
  if (choices.includes(text)) return text
  throw new AppError('BAD_REQUEST', `${name}: ${JSON.stringify(text)} is not known; use ${choices.join(' or ')}`)
}

/** `none` means no TCP door. */
function readPort(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return defaultPort
  if (text === 'none') return undefined
  const port = Number(text)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new AppError('BAD_REQUEST', `CAO_API_PORT: ${JSON.stringify(text)} is no port; use 0 to 65535, or none`)
  }
  return port
}
