/** What a person or a caller can ask about worktrees: the list with what each holds, a removal, and the set-up of a project. */
import { AppError } from '../domain/errors.ts'
import { inspectWorktree, isLocked } from '../git/worktree.ts'
import type { FoundSetup, RemoveWorktree, WorktreeView } from './app.ts'
import type { AppContext } from './context.ts'
import { requireRepository } from './prepare-worktree.ts'
import { discardWorktree, hasOwner, releaseWorktree, usersOf } from './release-worktree.ts'
import { gitOf, placeOf } from './worktree-git.ts'
import { allowSetup, findSetup } from './worktree-setup.ts'

/** How many git looks into at the same time. */
const looksAtOnce = 4

/** Oldest first. Errors: the signal's reason. */
export async function listWorktrees(
  context: AppContext,
  { isLook }: { readonly isLook: boolean },
  signal: AbortSignal,
): Promise<readonly WorktreeView[]> {
  const git = gitOf(context, signal)
  const rows = context.store.worktrees.list()
  const views: WorktreeView[] = []
  const look = async (from: number) => {
    for (let index = from; index < rows.length; index += looksAtOnce) {
      const worktree = rows[index]
      if (worktree === undefined) return
      const isLooked = isLook && worktree.state !== 'planned'
      const content = !isLooked ? undefined : await inspectWorktree(git, placeOf(worktree))
      const own = hasOwner(context, worktree) ? [worktree.terminalId] : []
      const usedBy = [...own, ...usersOf(context, worktree)]
      views[index] = { worktree, work: content?.kind === 'content' ? content : undefined, usedBy }
    }
  }
  await Promise.all(Array.from({ length: looksAtOnce }, (_, from) => look(from)))
  return views
}

/** Errors: NOT_FOUND, CONFLICT (in use, being made, locked, or with work and not forced). */
export async function removeWorktree(
  context: AppContext,
  { id, isForced }: RemoveWorktree,
  signal: AbortSignal,
): Promise<void> {
  const row = context.store.worktrees.find(id)
  if (row === undefined)
    throw new AppError('NOT_FOUND', `there is no worktree of ${id}; \`cao worktree list\` lists them`)
  const refuse = (why: string) => new AppError('CONFLICT', `the worktree of ${id} is not removed: ${why}`)
  if (row.state === 'planned') throw refuse('it is just being made')
  const users = [...(hasOwner(context, row) ? [id] : []), ...usersOf(context, row)]
  if (users.length > 0) throw refuse(`${users.join(', ')} works in it; end that first`)
  if (isForced) {
    const git = gitOf(context, signal)
    if (await isLocked(git, placeOf(row))) {
      throw refuse(`somebody locked it; "git worktree unlock ${row.path}" lets it go`)
    }
    return context.worktreeEnds.run(() => discardWorktree(context, row, git))
  }
  if ((await releaseWorktree(context, id)) === 'removed') return
  const kept = context.store.worktrees.find(id)
  throw refuse(
    `${kept?.detail ?? 'it holds work'}; merge and commit what you want of it, or throw it away with --force`,
  )
}

/** Errors: BAD_REQUEST. */
export async function showSetup(context: AppContext, directory: string, signal: AbortSignal): Promise<FoundSetup> {
  const repository = await requireRepository(gitOf(context, signal), directory)
  return { repository: repository.topDir, setup: await findSetup(context, repository) }
}

/** Allows the file that has this digest, or takes the permission back. Errors: BAD_REQUEST, NOT_FOUND, CONFLICT when it has changed meanwhile. */
export async function trustSetup(
  context: AppContext,
  { directory, digest }: { readonly directory: string; readonly digest: string | undefined },
  signal: AbortSignal,
): Promise<FoundSetup> {
  const repository = await requireRepository(gitOf(context, signal), directory)
  if (digest !== undefined) {
    const setup = await findSetup(context, repository)
    if (setup === undefined) throw new AppError('NOT_FOUND', `${repository.topDir} names no set-up for worktrees`)
    if (setup.digest !== digest) throw new AppError('CONFLICT', `${setup.file} has changed; look at it again`)
  }
  allowSetup(context, repository.gitDir, digest)
  return { repository: repository.topDir, setup: await findSetup(context, repository) }
}
