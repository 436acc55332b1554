/**
 * Puts the HTTP app on its two doors: a unix socket that only its owner can open, and TCP on the loopback. One app,
 * told by `door` which way a request came. Closing ends streams and held requests first, then waits for the rest.
 */
import { chmod, lstat, mkdir, unlink } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import type { Clock } from '../async/clock.ts'
import { sleep } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import type { Log } from '../lib/log.ts'
import { headerBytesMax } from '../protocol/version.ts'
import type { Door, Router } from './context.ts'

export type ListenOptions = {
  readonly router: Router
  readonly clock: Clock
  readonly log: Log
  readonly socketPath: string
  /** Undefined: no TCP door. Port 0: any free one. Token undefined: everybody on this machine may come in (`--no-auth`). */
  readonly tcp:
    | { readonly host: string; readonly port: number; readonly token: string | undefined; readonly readToken?: string }
    | undefined
}

/** The caller aborts `Services.closing` before it disposes this, so that streams and held requests end by themselves. */
export type Listening = AsyncDisposable & {
  readonly socketPath: string
  /** Undefined without a TCP door. */
  readonly port: number | undefined
}

/** Other local users can connect, too, and must not use up our descriptors. A connection beyond these is closed. */
export const tcpConnectionsMax = 200
/** Whoever does not end a request's head by then loses the connection, at the next look. Units: ms. */
const headLimitMs = 10_000
const headLookMs = 2_500
/** How long requests may run on after closing began. Units: ms. */
export const closeGraceMs = 5_000

/**
 * Opens the doors. The caller is the only server of its home (a lock), so an old socket file is a dead one's.
 * Errors: CONFLICT when the port is taken; INTERNAL when the socket can not be made. Owns: the caller disposes.
 */
export async function listen(options: ListenOptions): Promise<Listening> {
  await using stack = new AsyncDisposableStack()
  const { socketPath, tcp } = options
  const unix = serve(options, { kind: 'unix' })
  stack.defer(() => close(unix, options.clock))
  await openUnix(unix, socketPath)
  let port: number | undefined
  if (tcp !== undefined) {
    const { token, readToken } = tcp
    const server = serve(options, { kind: 'tcp', token, ...(readToken === undefined ? {} : { readToken }) })
    server.maxConnections = tcpConnectionsMax
    stack.defer(() => close(server, options.clock))
    port = await openTcp(server, tcp)
    if (tcp.token === undefined) {
      options.log.write('warn', 'no-auth: every process on this machine can use this server', { port })
    }
  }
  const owned = stack.move()
  return { socketPath, port, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

function serve({ router, log }: ListenOptions, door: Door): Server {
  const listener = getRequestListener((request) => router.fetch(request, { door }))
  const server = createServer(
    { maxHeaderSize: headerBytesMax, headersTimeout: headLimitMs, connectionsCheckingInterval: headLookMs },
    (incoming, outgoing) => void listener(incoming, outgoing),
  )
  server.on('error', (error) => log.write('error', 'a door failed', { door: door.kind, error: error.message }))
  return server
}

async function openUnix(server: Server, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await removeOldSocket(path)
  try {
    await listenOn(server, { path })
  } catch (error) {
    throw new AppError('INTERNAL', `the socket ${path} can not be opened: ${(error as Error).message}`, {
      cause: error,
    })
  }
  await chmod(path, 0o600)
}

/** Only a socket is removed: anything else at that place is not ours. */
async function removeOldSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined)
  if (found?.isSocket() === true) await unlink(path)
}

async function openTcp(server: Server, { host, port }: { host: string; port: number }): Promise<number> {
  try {
    await listenOn(server, { host, port })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    const sentence = `port ${port} on ${host} is taken: stop what listens there, or choose another with CAO_API_PORT`
    throw new AppError('CONFLICT', sentence, { cause: error })
  }
  return (server.address() as AddressInfo).port
}

function listenOn(server: Server, where: { path: string } | { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

async function close(server: Server, clock: Clock): Promise<void> {
  if (!server.listening) return
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const grace = new AbortController()
  const late = sleep(clock, closeGraceMs, grace.signal).then(
    () => server.closeAllConnections(),
    () => undefined,
  )
  await closed
  grace.abort(new Error('closed in time'))
  await late
}
