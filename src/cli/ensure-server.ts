/**
 * Sees to it that a server runs: finds it, or starts it and waits until it accepts.
 *
 * Any number of commands may do this at once. Each starts a server; the servers settle among themselves, by a
 * lock that the kernel frees, which of them stays, and every command connects to that one. So a server of ours
 * that ends is no failure as long as another one appears.
 */
import { spawn } from 'node:child_process'
import { type FileHandle, open } from 'node:fs/promises'
import type { Clock } from '../async/clock.ts'
import { sleep } from '../async/wait.ts'
import { AppError, errorTable } from '../domain/errors.ts'
import type { HomeLayout, ServerFile } from '../protocol/home.ts'
import { findServer } from './find-server.ts'
import { describeHomeFault, toHomeFault } from './home-fault.ts'
import { prepareHome } from './prepare-home.ts'

/** From the start of the process to its first accepted connection, recovery of earlier agents not included. Units: ms. */
export const startLimitMs = 20_000
/** How long the winner of a race may take after our own server has stepped back (it ends with the code of CONFLICT). Units: ms. */
const winnerLimitMs = 10_000
/** After any other end of our own: one look more, in case another command's server has just come up. Units: ms. */
const lastLookMs = 300
const pollMs = 25
/** How much of the log is looked at for the reason of a failed start. Units: bytes. */
const logTailBytesMax = 16_384

export type EnsureServerOptions = {
  readonly layout: HomeLayout
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly env: Readonly<Record<string, string | undefined>>
  /** argv of the server program. */
  readonly program: readonly string[]
}

export type EnsuredServer = { readonly file: ServerFile; readonly isNew: boolean }

/**
 * Errors: SERVER_UNREACHABLE, in a sentence that names the log; what the server itself refused to start for; BAD_REQUEST for
 * a home that can not be used. Inside an agent none is started.
 */
export async function ensureServer(options: EnsureServerOptions): Promise<EnsuredServer> {
  const found = await findServer(options.layout, options.clock)
  if (found.kind === 'running') return { file: found.file, isNew: false }
  if (found.kind === 'silent') throw silentServer(found.file)
  refuseInsideAgent(options)
  return startServer(options)
}

/** The server that runs. Errors: SERVER_UNREACHABLE when none does. */
export async function requireServer(options: Pick<EnsureServerOptions, 'layout' | 'clock'>): Promise<ServerFile> {
  const found = await findServer(options.layout, options.clock)
  if (found.kind === 'running') return found.file
  if (found.kind === 'silent') throw silentServer(found.file)
  throw new AppError(
    'SERVER_UNREACHABLE',
    `no CAO server runs for ${options.layout.home}; start one with "cao server start"`,
  )
}

function silentServer(file: ServerFile): AppError {
  return new AppError(
    'SERVER_UNREACHABLE',
    `the CAO server (pid ${file.pid}) does not accept connections; look at it, or end it with "cao server stop"`,
  )
}

function refuseInsideAgent({ env, layout }: EnsureServerOptions): void {
  if ((env['CAO_TERMINAL_ID'] ?? '') === '') return
  throw new AppError(
    'SERVER_UNREACHABLE',
    `no CAO server runs for ${layout.home}, and an agent does not start one: ask your person to run "cao server start"`,
  )
}

type Child = { readonly exit: Promise<number>; code: number | undefined }

async function startServer(options: EnsureServerOptions): Promise<EnsuredServer> {
  const { clock, layout, signal } = options
  await prepareHome(layout)
  const logStart = await logLength(layout)
  const child = await spawnServer(options)
  const startedAtMs = clock.monotonicMs()
  let endedAtMs: number | undefined
  for (;;) {
    const found = await findServer(layout, clock)
    if (found.kind === 'running') return { file: found.file, isNew: true }
    const nowMs = clock.monotonicMs()
    if (child.code !== undefined) endedAtMs ??= nowMs
    const graceMs = child.code === errorTable.CONFLICT.exitCode ? winnerLimitMs : lastLookMs
    const isOver = endedAtMs !== undefined && nowMs - endedAtMs > graceMs
    if (isOver || nowMs - startedAtMs > startLimitMs) throw await failedStart(options, child, logStart)
    await sleep(clock, pollMs, signal)
  }
}

async function spawnServer({ env, layout, program }: EnsureServerOptions): Promise<Child> {
  const log = await openLog(layout)
  try {
    const [file, ...args] = program
    if (file === undefined) throw new AppError('SETUP_MISSING', 'the server program is not known')
    const process = spawn(file, args, {
      cwd: layout.home,
      detached: true,
      env: { ...env, CAO_HOME: layout.home },
      stdio: ['ignore', log.fd, log.fd],
    })
    process.unref()
    const child: Child = {
      code: undefined,
      exit: new Promise((resolve) => {
        process.once('error', () => resolve(127))
        process.once('exit', (code) => resolve(code ?? 1))
      }),
    }
    void child.exit.then((code) => {
      child.code = code
    })
    return child
  } finally {
    await log.close()
  }
}

async function openLog(layout: HomeLayout): Promise<FileHandle> {
  return open(layout.serverLog, 'a', 0o600).catch((error: unknown) => {
    throw toHomeFault(error, layout.home)
  })
}

/** Codes that tell more than "no server": a server that ended with one of them said why, in a sentence for the person. */
const ownCodes = ['BAD_REQUEST', 'CONFLICT', 'STORE_CORRUPT', 'STORE_NEWER', 'SETUP_MISSING', 'BACKEND_GONE'] as const

async function failedStart(options: EnsureServerOptions, child: Child, logStart: number): Promise<AppError> {
  const { home, serverLog } = options.layout
  const said = lastSentence(await readLogFrom(serverLog, logStart))
  const how =
    child.code === undefined ? `was not ready after ${startLimitMs / 1000} s` : `ended with code ${child.code}`
  // A server that stepped back with a reason of its own: that reason, and its code, are the answer.
  const own = ownCodes.find((code) => errorTable[code].exitCode === child.code)
  if (own !== undefined && said !== '') return new AppError(own, `the CAO server did not start: ${said}`)
  // What the system said to it about a file of the home: "EACCES: permission denied, open '/…'".
  const [, systemCode = '', path] = /\b(E[A-Z]{3,}): .*'([^']+)'$/.exec(said) ?? []
  const homeFault = path?.startsWith(home) === true ? describeHomeFault(systemCode, { home, path }) : undefined
  if (homeFault !== undefined) return homeFault
  const why = said === '' ? '' : ` (${said})`
  return new AppError('SERVER_UNREACHABLE', `the CAO server ${how}${why}; its log is ${serverLog}`)
}

/** The reason in what a server wrote before it ended: its last "Error: …" line, else its last line. */
export function lastSentence(log: string): string {
  const lines = log.split('\n').filter((line) => line.trim() !== '')
  const error = lines.findLast((line) => line.startsWith('Error: '))
  return (error?.slice('Error: '.length) ?? lines.at(-1) ?? '').trim().replace(/\.$/, '')
}

async function logLength(layout: HomeLayout): Promise<number> {
  try {
    await using log = await open(layout.serverLog, 'r')
    return (await log.stat()).size
  } catch (error) {
    if (isAbsence(error)) return 0
    throw toHomeFault(error, layout.home)
  }
}

async function readLogFrom(path: string, from: number): Promise<string> {
  try {
    await using log = await open(path, 'r')
    const { size } = await log.stat()
    const start = Math.max(from, size - logTailBytesMax)
    const buffer = Buffer.alloc(Math.max(0, size - start))
    const { bytesRead } = await log.read(buffer, 0, buffer.length, start)
    return buffer.subarray(0, bytesRead).toString('utf8')
  } catch (error) {
    if (isAbsence(error)) return ''
    throw error
  }
}

const isAbsence = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'
