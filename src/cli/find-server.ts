/**
 * Whether a server runs for this home, asked of the server itself: its file says where it listens, a connection
 * says that it lives. A file alone proves nothing, because a killed server leaves it behind.
 */
import { connect } from 'node:net'
import type { Clock } from '../async/clock.ts'
import { DeadlineError, withDeadline } from '../async/wait.ts'
import { type HomeLayout, parseServerFile, type ServerFile } from '../protocol/home.ts'
import { readFileSync } from './builtins.ts'
import { refuseBadHome, toHomeFault } from './home-fault.ts'

/** A living server accepts at once; only a stopped process or a full backlog takes longer. Units: ms. */
export const connectLimitMs = 2_000

export type FoundServer =
  | { readonly kind: 'running'; readonly file: ServerFile }
  /** `file` is what the last server left behind, if anything. */
  | { readonly kind: 'none'; readonly file: ServerFile | undefined }
  /** Something listens and does not accept: a frozen server. */
  | { readonly kind: 'silent'; readonly file: ServerFile }

/** Errors: BAD_REQUEST for a home that can not be used. */
export async function findServer(layout: HomeLayout, clock: Clock): Promise<FoundServer> {
  refuseBadHome(layout)
  const file = loadServerFile(layout)
  if (file === undefined) return { kind: 'none', file: undefined }
  switch (await tryConnect(file.socket_path, clock)) {
    case 'accepted':
      return { kind: 'running', file }
    case 'refused':
      return { kind: 'none', file }
    case 'silent':
      return { kind: 'silent', file }
  }
}

function loadServerFile(layout: HomeLayout): ServerFile | undefined {
  try {
    return parseServerFile(readFileSync(layout.serverFile, 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined
    throw toHomeFault(error, layout.home)
  }
}

async function tryConnect(socketPath: string, clock: Clock): Promise<'accepted' | 'refused' | 'silent'> {
  const socket = connect(socketPath)
  const settled = new Promise<'accepted' | 'refused'>((resolve) => {
    socket.once('connect', () => resolve('accepted'))
    socket.once('error', () => resolve('refused'))
  })
  try {
    return await withDeadline(clock, settled, connectLimitMs, 'the server to accept a connection')
  } catch (error) {
    if (error instanceof DeadlineError) return 'silent'
    throw error
  } finally {
    socket.destroy()
  }
}
