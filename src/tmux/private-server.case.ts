/**
 * A tmux server for one test file: in a directory of its own, with one connection, ended and
 * removed by its disposal, which touches nothing else.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../async/clock-system.ts'
import { sleep } from '../async/wait.ts'
import { type ServerAddress, scrubEnvironment } from './address.ts'
import { openConnection, type TmuxConnection } from './connection.ts'
import { type CreateOutcome, type CreateRequest, createPane } from './create-pane.ts'
import { ensureServer, type RunningServer, stopServer } from './server.ts'

export const tagOption = '@cao_test_tag'

export type PrivateServer = AsyncDisposable & {
  readonly dir: string
  readonly address: ServerAddress
  readonly server: RunningServer
  readonly connection: TmuxConnection
  /** A new window in the session `main` that runs `sh -c script`, piped to a file in `dir`. */
  open(script: string, more?: Partial<CreateRequest>): Promise<Extract<CreateOutcome, { kind: 'created' }>>
}

export function makeAddress(dir: string): ServerAddress {
  return {
    tmux: 'tmux',
    socketPath: join(dir, 's'),
    confPath: join(dir, 'tmux.conf'),
    recordPath: join(dir, 'server.json'),
    env: scrubEnvironment({ PATH: process.env['PATH'], HOME: dir }),
    keeperSession: 'keeper',
  }
}

export function makeTempDir(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'cao-tmux-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

export async function mustOpen(address: ServerAddress): Promise<TmuxConnection> {
  const opened = await openConnection({ clock: systemClock, address, onListenerError: throwLater })
  if (opened.kind !== 'open') throw new Error(`no connection: ${opened.why} ${opened.detail}`)
  return opened.connection
}

function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}

export async function startPrivateServer(): Promise<PrivateServer> {
  const dir = makeTempDir()
  const address = makeAddress(dir.path)
  const server = await ensureServer({ clock: systemClock, address, instance: 'test1' })
  if (server.kind !== 'running') throw new Error(`no server: ${server.detail}`)
  const connection = await mustOpen(address)
  const sessions = new Set<string>()
  return {
    dir: dir.path,
    address,
    server,
    connection,
    async open(script, more = {}) {
      const session = more.session ?? 'main'
      const created = await createPane(connection, {
        session,
        isFirst: !sessions.has(session),
        windowName: 'test',
        argv: ['/bin/sh', '-c', script],
        cwd: dir.path,
        env: {},
        size: { cols: 80, rows: 24 },
        tag: { option: tagOption, value: 'x' },
        isOwnServer: true,
        sink: `exec cat >> '${dir.path}/out.log'`,
        ...more,
      })
      if (created.kind !== 'created') throw new Error(`not created: ${JSON.stringify(created)}`)
      sessions.add(session)
      return created
    },
    async [Symbol.asyncDispose]() {
      const { identity } = server
      await stopServer({ clock: systemClock, address, identity, closeClients: () => connection.close() })
      dir[Symbol.dispose]()
    },
  }
}

/** Waits, at most ten seconds, until `look` gives a value. */
export async function until<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const deadlineMs = systemClock.monotonicMs() + 10_000
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (systemClock.monotonicMs() > deadlineMs) throw new Error(`gave up waiting for ${what}`)
    await sleep(systemClock, 10)
  }
}

export const text = (lines: readonly Uint8Array[]): string[] => lines.map((line) => Buffer.from(line).toString('utf8'))
