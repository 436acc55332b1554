/** How the app speaks to git about worktrees: which environment, and what its refusals are to whoever asked. */
import { join, relative } from 'node:path'
import { AppError } from '../domain/errors.ts'
import type { Worktree } from '../domain/worktree.ts'
import type { GitContext, GitResult } from '../git/git.ts'
import type { WorktreePlace } from '../git/worktree.ts'
import { assert } from '../lib/assert.ts'
import { selectClientEnv } from './agent-env.ts'
import type { AppContext } from './context.ts'

/** git of the server's own environment: an agent's PATH has no say in what we run. */
export function gitOf({ clock, serverEnv }: Pick<AppContext, 'clock' | 'serverEnv'>, signal: AbortSignal): GitContext {
  return { clock, env: selectClientEnv(serverEnv), signal }
}

export type Refusal = Exclude<GitResult, { readonly kind: 'done' }>

/** `what` is a sentence without its end: "the worktree of … could not be made". */
export function toFault(refusal: Refusal, what: string): AppError {
  switch (refusal.kind) {
    case 'missing':
      return new AppError('PROGRAM_MISSING', `${what}: git is not installed`)
    case 'timed-out':
      return new AppError('TIMEOUT', `${what}: git did not end within ${refusal.afterMs / 1_000} s`)
    case 'failed': {
      const isFull = /No space left on device|Disk quota exceeded/.test(refusal.why)
      return new AppError(isFull ? 'STORAGE_FULL' : 'BAD_REQUEST', `${what}: ${refusal.why}`)
    }
  }
}

export const describeRefusal = (refusal: Refusal): string => toFault(refusal, 'git').message

/** Each worktree has a private folder of its own, named by its terminal, with the checkout in it. */
export const worktreeFolder = ({ layout }: Pick<AppContext, 'layout'>, id: string): string =>
  join(layout.worktreesDir, id)

export const placeOf = ({ gitDir, path, branch, baseCommit }: Worktree): WorktreePlace => ({
  gitDir,
  path,
  branch,
  baseCommit,
})

/** Whether `path` is `folder` or lies in it. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way === '' || (!way.startsWith('..') && !way.startsWith('/'))
}

/** Nothing outside of our own folder is ever removed, whatever a row says. */
export function assertOurs(context: Pick<AppContext, 'layout'>, { terminalId, path }: Worktree): void {
  const folder = worktreeFolder(context, terminalId)
  assert(path !== folder && isWithin(folder, path), `worktree ${path} is not in ${folder}`)
}
