/**
 * Where our tmux server is. Agents live longer than any configuration: while the server that the record names is alive, a
 * changed environment (another XDG_RUNTIME_DIR, CAO_TMUX_SOCKET gone) finds it again instead of starting a second one.
 */
import { dirname, join } from 'node:path'
import type { Clock } from '../../async/clock.ts'
import { AppError } from '../../domain/errors.ts'
import { type ServerAddress, scrubEnvironment } from '../../tmux/address.ts'
import { readProcessIdentity } from '../../tmux/process-identity.ts'
import { readServerRecord } from '../../tmux/server-record.ts'
import { chooseSocketPath } from '../../tmux/socket-path.ts'

/** No session of a user can have it: those begin with cao-. */
export const keeperSession = '__cao_keeper'

export type AddressOptions = {
  /** Where the socket should lie, as CAO_HOME/run. */
  readonly runDir: string
  /** One directory per terminal is made in it. */
  readonly terminalsDir: string
  /** Environment of this process; little of it reaches tmux and nothing of it an agent. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly tempDir: string
  /** The tmux program; by default the one on PATH. */
  readonly tmux?: string
  /** Socket of another tmux server to use. On one that runs already only what is ours is touched, and it is never ended. */
  readonly socketPath?: string
}

export function planAddress(options: AddressOptions): ServerAddress {
  const { runDir, tempDir, env } = options
  const uid = process.getuid?.() ?? 0
  const chosen = chooseSocketPath({ runDir, tempDir, uid, runtimeDir: env['XDG_RUNTIME_DIR'] })
  return {
    tmux: options.tmux ?? 'tmux',
    socketPath: options.socketPath ?? chosen,
    confPath: join(runDir, 'tmux.conf'),
    recordPath: join(dirname(options.terminalsDir), 'tmux-server.json'),
    env: scrubEnvironment(env),
    keeperSession,
  }
}

/** The planned address, or that of the recorded server while it lives. Errors: CONFLICT when another one was asked for by name. */
export async function findAddress(clock: Clock, planned: ServerAddress, isNamed: boolean): Promise<ServerAddress> {
  const record = readServerRecord(planned)
  if (record === undefined || record.socketPath === planned.socketPath) return planned
  const isAlive = (await readProcessIdentity(clock, record.pid))?.startedAt === record.startedAt
  if (!isAlive) return planned
  if (!isNamed) return { ...planned, socketPath: record.socketPath }
  const cure = `start with CAO_TMUX_SOCKET=${record.socketPath}, or end them there first (cao shutdown --all)`
  throw new AppError('CONFLICT', `the agents of this CAO live on the tmux server at ${record.socketPath}: ${cure}`)
}
