/**
 * Where everything of one CAO lies: the layout of CAO_HOME, and the file by which programs find the
 * running server. Server, clients, shims and tests share this page; a path that is not here does not exist.
 *
 * Pure: nothing is read, written or created. Directories are 0700, files 0600.
 */
import { isAbsolute, join, resolve } from 'node:path'

export type HomeLayout = {
  readonly home: string
  readonly runDir: string
  /** Says where the running server listens: `ServerFile` as JSON. */
  readonly serverFile: string
  /** Used when it is short enough for a socket address; `ServerFile.socket_path` is where the socket really is. */
  readonly socketPathPreferred: string
  readonly logsDir: string
  readonly serverLog: string
  /** Who changed what, and who was refused; the older half in `audit.1.jsonl`. */
  readonly auditFile: string
  readonly dbFile: string
  /** One directory per terminal: generated settings, output log, hook spool. */
  readonly terminalsDir: string
  /** Profiles of this CAO, `NAME.md`. */
  readonly agentStoreDir: string
  /** Options of a person's choice (`options.ts`). */
  readonly settingsFile: string
  /** Variables for agents and profiles, `NAME=VALUE`. */
  readonly envFile: string
  /** Held by whoever reads and writes one of these, or the folder of skills. */
  readonly filesLock: string
  /** Skills of this CAO, `NAME/SKILL.md`. */
  readonly skillsDir: string
  /** Screen rules of the person's own, `PROVIDER.yaml`. */
  readonly rulesDir: string
  readonly shimsDir: string
  readonly tokenFile: string
  /** A second token, by which one may look and change nothing. */
  readonly readTokenFile: string
  /** Requests that agents wrote while no server ran; ingested once at the next start. */
  readonly outboxDir: string
  /** Worktrees of agents, each in a folder named by its terminal. */
  readonly worktreesDir: string
}

export function layoutOf(home: string): HomeLayout {
  const runDir = join(home, 'run')
  const logsDir = join(home, 'logs')
  return {
    home,
    runDir,
    serverFile: join(runDir, 'server.json'),
    socketPathPreferred: join(runDir, 'server.sock'),
    logsDir,
    serverLog: join(logsDir, 'server.log'),
    auditFile: join(logsDir, 'audit.jsonl'),
    dbFile: join(home, 'db', 'cao.db'),
    terminalsDir: join(home, 'terminals'),
    agentStoreDir: join(home, 'agent-store'),
    settingsFile: join(home, 'settings.json'),
    envFile: join(home, '.env'),
    filesLock: join(runDir, 'files.lock'),
    skillsDir: join(home, 'skills'),
    rulesDir: join(home, 'rules'),
    shimsDir: join(home, 'shims'),
    tokenFile: join(runDir, 'token'),
    readTokenFile: join(runDir, 'token.read'),
    outboxDir: join(home, 'outbox'),
    worktreesDir: join(home, 'worktrees'),
  }
}

/** CAO_HOME, else upstream's CAO_HOME_DIR, else `~/.cao`; always absolute. Empty counts as unset. */
export function resolveHome(env: Readonly<Record<string, string | undefined>>, userHome: string): string {
  return findDir([env['CAO_HOME'], env['CAO_HOME_DIR']], userHome) ?? join(userHome, '.cao')
}

/**
 * Upstream's home, by its own variable or where it is without one: its profiles, skills and variables are read and never written. It has
 * the names of `layoutOf`.
 */
export function upstreamHome(env: Readonly<Record<string, string | undefined>>, userHome: string): string {
  return findDir([env['CAO_HOME_DIR']], userHome) ?? join(userHome, '.aws', 'cli-agent-orchestrator')
}

function findDir(candidates: readonly (string | undefined)[], userHome: string): string | undefined {
  const named = candidates.find((value) => value !== undefined && value !== '')
  if (named === undefined) return undefined
  if (named === '~' || named.startsWith('~/')) return join(userHome, named.slice(1))
  return isAbsolute(named) ? named : resolve(named)
}

/** What the running server says about itself in `HomeLayout.serverFile`. */
export type ServerFile = {
  readonly pid: number
  readonly socket_path: string
  /** Undefined or null: no TCP. */
  readonly tcp_port: number | null
  readonly version: string
  readonly protocol_version: number
  readonly started_at: string
}

/** Undefined when `text` is not such a file (half written, of another program). */
export function parseServerFile(text: string): ServerFile | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
  if (typeof value !== 'object' || value === null) return undefined
  const record = value as Readonly<Record<string, unknown>>
  const { pid, socket_path, tcp_port, version, protocol_version, started_at } = record
  if (typeof pid !== 'number' || typeof socket_path !== 'string' || socket_path === '') return undefined
  return {
    pid,
    socket_path,
    tcp_port: typeof tcp_port === 'number' ? tcp_port : null,
    version: typeof version === 'string' ? version : '',
    protocol_version: typeof protocol_version === 'number' ? protocol_version : 0,
    started_at: typeof started_at === 'string' ? started_at : '',
  }
}
