/**
 * The composition root of the server: every implementation is chosen here and nowhere else. Order: lock → store →
 * shims → app (backend, recovery) → doors → the file that says where they are. Closing goes the other way and
 * leaves every agent alone.
 */
import { randomBytes } from 'node:crypto'
import { accessSync, constants, existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { LaunchDefaults, LaunchLimits } from '../app/context.ts'
import { startApp } from '../app/create-app.ts'
import { createProfileDownload, type ProfileDownload } from '../app/download-profile.ts'
import { createProfileFiles } from '../app/profile-files.ts'
import { systemClock } from '../async/clock-system.ts'
import { AppError } from '../domain/errors.ts'
import { readPrivateFile } from '../home/private-file.ts'
import { createProfileStores, type ProfilePlaces } from '../home/profile-stores.ts'
import { createSkillFiles } from '../home/skill-files.ts'
import { createJsonLog, type Log, type LogLevel } from '../lib/log.ts'
import { version } from '../lib/version.ts'
import type { HomeLayout, ServerFile } from '../protocol/home.ts'
import { protocolVersion } from '../protocol/version.ts'
import { ProviderRegistry } from '../providers/registry.ts'
import { applyRuleFiles } from '../rules/rule-files.ts'
import { openAudit } from '../server/audit.ts'
import { createHttpApp } from '../server/http-app.ts'
import { listen } from '../server/listen.ts'
import { loadOrCreateToken } from '../server/token.ts'
import { openStore } from '../store/sqlite/open.ts'
import { chooseSocketPath } from '../tmux/socket-path.ts'
import { createBackend } from './create-backend.ts'
import { createNotifyOptions } from './create-channels.ts'
import { createProviders } from './create-providers.ts'
import { lockHome } from './home-lock.ts'
import { createLogFile } from './log-file.ts'
import { findRoot } from './root.ts'
import type { ServerConfig } from './server-config.ts'
import { settlePort } from './settle-port.ts'
import { writeShims } from './shims.ts'

export type RunningServer = AsyncDisposable & { readonly file: ServerFile }

/** Of the file of certificates. Units: bytes. */
const caBytesMax = 1_024 * 1_024

/** And as much again in the one before it. Units: bytes. */
const serverLogBytesMax = 16 * 1024 * 1024

const randomHex = (digits: number): string =>
  randomBytes(Math.ceil(digits / 2))
    .toString('hex')
    .slice(0, digits)

/** Resolves when CAO is whole and its doors are open. Errors: CONFLICT when a server runs already, and what its parts throw. */
export async function startServer(config: ServerConfig): Promise<RunningServer> {
  const { layout, options } = config
  await using stack = new AsyncDisposableStack()
  makeDirectories(config)
  stack.use(lockHome(layout))
  const log = openLog(layout.serverLog, options['logging.level'])
  log.write('info', 'server starting', { version, pid: process.pid, home: layout.home })
  if (config.unknownSettings.length > 0) {
    log.write('warn', 'unknown settings are not used', { names: config.unknownSettings })
  }
  const port = await settlePort(config, log)
  const store = stack.use(openStore({ path: layout.dbFile }))
  const root = findRoot()
  const shims = await writeShims(layout.shimsDir, [join(root, 'bin', 'cao-mcp-server')])
  const backend = stack.use(createBackend(config, log))
  const socketPath = chooseServerSocket(config)
  const running = stack.use(
    await startApp({
      store,
      backend,
      providers: new ProviderRegistry(await applyRuleFiles(createProviders(root), layout.rulesDir, log)),
      downloadProfile: await openDownload(config),
      profiles: createProfileFiles(createProfileStores(profilePlaces(config, root))),
      skills: createSkillFiles({ storeDirs: config.skillStoreDirs, builtInDir: join(root, 'skills') }),
      launchDefaults: readLaunchDefaults(options),
      limits: readLimits(options),
      team: {
        hopsMax: options['limits.hops'],
        isHeldByInterrupt: options['people.hold_on_interrupt'] === 'yes',
      },
      layout,
      socketPath,
      serverEnv: config.env,
      clock: systemClock,
      log,
      random: randomHex,
      shims,
      isRecoveryAutomatic: options['terminal.recover'] === 'auto',
      notify: createNotifyOptions(config),
      retentionMs: options['retention.days'] * 24 * 3_600_000,
    }),
  )
  const closing = new AbortController()
  const router = createHttpApp({
    app: running.app,
    clock: systemClock,
    log,
    version,
    closing: closing.signal,
    capabilities: running.capabilities,
    rules: { hosts: options['server.allowed_hosts'], origins: options['server.cors_origins'] },
    audit: openAudit(layout.auditFile, log),
  })
  const tokens = config.isAuthOff ? { token: undefined } : await loadTokens(layout)
  const tcp = port === undefined ? undefined : { host: options['server.host'], port, ...tokens }
  // What a killed server left would be taken for ours, with its ports, as soon as the socket accepts.
  rmSync(layout.serverFile, { force: true })
  const doors = stack.use(await listen({ router, clock: systemClock, log, socketPath, tcp }))
  stack.defer(() => closing.abort(new Error('the server is stopping')))
  const file = await writeServerFile(config, doors.port, socketPath)
  stack.defer(() => rmSync(layout.serverFile, { force: true }))
  log.write('info', 'server ready', { socketPath, tcpPort: doors.port })
  stack.defer(() => log.write('info', 'server stopping'))
  const owned = stack.move()
  return { file, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

function readLaunchDefaults(options: ServerConfig['options']): LaunchDefaults {
  const seconds = options['server.provider_init_timeout']
  return {
    provider: options['agents.provider'],
    startupLimitMs: seconds === undefined ? undefined : seconds * 1_000,
    size: options['terminal.size'],
  }
}

const readLimits = (options: ServerConfig['options']): LaunchLimits => ({
  depthMax: options['limits.depth'],
  sessionWorkersMax: options['limits.workers'],
  memoryMinMib: options['limits.memory_mib'],
  loadMax: options['limits.load'],
})

/** Errors: BAD_REQUEST for certificates that can not be read. */
async function openDownload({ options }: ServerConfig): Promise<ProfileDownload> {
  const allowedHosts = options['agents.profile_hosts']
  const caFile = options['agents.profile_ca_file']
  const ca = caFile === undefined ? undefined : await readPrivateFile(caFile, caBytesMax)
  if (caFile !== undefined && ca === undefined) {
    throw new AppError('BAD_REQUEST', `CAO_PROFILE_CA_FILE: there is no ${caFile}`)
  }
  return createProfileDownload({ clock: systemClock, allowedHosts, ca })
}

function profilePlaces({ layout, options, userHome, upstreamHome }: ServerConfig, root: string): ProfilePlaces {
  const { agentStoreDir, settingsFile, envFile } = layout
  const extraDirs = options['agents.extra_dirs']
  const builtInDir = join(root, 'profiles')
  return { agentStoreDir, settingsFile, envFile, extraDirs, builtInDir, userHome, upstreamHome }
}

function makeDirectories({ layout }: ServerConfig): void {
  for (const dir of [
    layout.home,
    layout.runDir,
    layout.logsDir,
    layout.terminalsDir,
    layout.agentStoreDir,
    layout.outboxDir,
  ]) {
    try {
      makeDirectory(dir)
      accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK)
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      const cure = 'look who owns it and its mode, or name another folder by CAO_HOME'
      throw new AppError('BAD_REQUEST', `the folder ${dir} can not be made or used (${why}); ${cure}`, { cause })
    }
  }
}

/** As mkdir -p; Node's own recursive form never returns below /proc. */
function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && statSync(path).isDirectory()) return
    if (code !== 'ENOENT' || dirname(path) === path || existsSync(dirname(path))) throw error
    makeDirectory(dirname(path))
    mkdirSync(path, { mode: 0o700 })
  }
}

async function loadTokens({ tokenFile, readTokenFile }: HomeLayout) {
  return { token: await loadOrCreateToken(tokenFile), readToken: await loadOrCreateToken(readTokenFile) }
}

/** In CAO_HOME/run, or in a private place with a shorter path where that is too long for a socket. */
function chooseServerSocket(config: ServerConfig): string {
  const { runDir } = config.layout
  const uid = process.getuid?.() ?? 0
  const tmux = chooseSocketPath({ runDir, runtimeDir: config.runtimeDir, tempDir: config.tempDir, uid })
  return join(dirname(tmux), dirname(tmux) === runDir ? 'server.sock' : 'c')
}

function openLog(path: string, least: LogLevel): Log {
  return createJsonLog(createLogFile(path, serverLogBytesMax), () => systemClock.nowMs(), least)
}

async function writeServerFile(
  config: ServerConfig,
  port: number | undefined,
  socketPath: string,
): Promise<ServerFile> {
  const { serverFile } = config.layout
  const file: ServerFile = {
    pid: process.pid,
    socket_path: socketPath,
    tcp_port: port ?? null,
    version,
    protocol_version: protocolVersion,
    started_at: new Date(systemClock.nowMs()).toISOString(),
  }
  const fresh = `${serverFile}.new`
  await writeFile(fresh, JSON.stringify(file), { mode: 0o600 })
  await rename(fresh, serverFile)
  return file
}
