/**
 * The end of a worktree. What is clean and merged goes, with its branch; what holds work, or can not be removed, stays and
 * is told of: as an event, in the lists, and to whoever gave the task. Nothing here removes work but `discardWorktree`.
 */
import { rm, rmdir, stat } from 'node:fs/promises'
import { deadlineSignal, sleep } from '../async/wait.ts'
import type { DomainEventBody } from '../domain/events.ts'
import type { TerminalId } from '../domain/ids.ts'
import type { Terminal } from '../domain/terminal.ts'
import { describeWork, type Worktree, type WorktreeWork } from '../domain/worktree.ts'
import type { GitContext } from '../git/git.ts'
import {
  deleteBranch,
  forceRemove,
  inspectWorktree,
  isLocked,
  removeClean,
  type WorktreeContent,
} from '../git/worktree.ts'
import type { AppContext } from './context.ts'
import { queueMessage } from './mailbox.ts'
import { assertOurs, describeRefusal, gitOf, isWithin, placeOf, worktreeFolder } from './worktree-git.ts'
import { setupLogOf } from './worktree-setup.ts'

/** For all that git has to say and to remove. Units: ms. */
const releaseLimitMs = 150_000
/** What an earlier server was making may be ending just now. Units: ms. */
const takeBackPausesMs = [0, 2_000, 10_000] as const

export type Released = 'removed' | 'kept'

/** Terminals that work in it, beside its own: those of a caller's workers that inherited the directory. */
export function usersOf({ store }: Pick<AppContext, 'store'>, { path, terminalId }: Worktree): readonly TerminalId[] {
  return store.terminals
    .list()
    .filter(
      ({ id, life, workingDirectory }) => id !== terminalId && life !== 'deleting' && isWithin(path, workingDirectory),
    )
    .map(({ id }) => id)
}

/** Whether its own terminal is there, running or to be recovered. */
export function hasOwner({ store }: Pick<AppContext, 'store'>, { terminalId }: Worktree): boolean {
  const life = store.terminals.find(terminalId)?.life
  return life !== undefined && life !== 'deleting' && life !== 'deleted'
}

/** Removes it if nothing is lost by that, else keeps it and says why. Errors: of the store only; what else goes wrong is why it was kept. */
export async function releaseWorktree(context: AppContext, id: TerminalId): Promise<Released> {
  return context.worktreeEnds.run(async () => {
    const row = context.store.worktrees.find(id)
    if (row === undefined) return 'removed'
    using limit = deadlineSignal(context.clock, releaseLimitMs, `the worktree of ${id} to be removed`)
    try {
      return await release(context, row, gitOf(context, limit.signal))
    } catch (error) {
      return keep(context, row, { detail: error instanceof Error ? error.message : String(error), work: undefined })
    }
  })
}

async function release(context: AppContext, row: Worktree, git: GitContext): Promise<Released> {
  const users = usersOf(context, row)
  if (users.length > 0) return keep(context, row, { detail: `${users.join(', ')} works in it`, work: undefined })
  const content = await inspectWorktree(git, placeOf(row))
  if (content.kind !== 'content') return keep(context, row, { detail: describeRefusal(content), work: undefined })
  const work = describeWork(content)
  if (!content.isThere && work !== '') return noteMissing(context, row)
  if (work !== '') return keep(context, row, { detail: work, work: content })
  if (await isLocked(git, placeOf(row))) {
    return keep(context, row, { detail: 'somebody locked it with "git worktree lock"', work: content })
  }
  const removed = content.isThere ? await removeClean(git, placeOf(row)) : await forceRemove(git, placeOf(row))
  // git looks by itself: what was written since we looked, and submodules, it leaves alone.
  if (removed.kind !== 'done') return keep(context, row, { detail: describeRefusal(removed), work: content })
  await forget(context, row, content, git)
  return 'removed'
}

/** The last steps of every removal: branch, folder, row. */
async function forget(context: AppContext, row: Worktree, content: WorktreeContent, git: GitContext): Promise<void> {
  const { terminalId, path, branch } = row
  if (content.branchCommit !== undefined) {
    const deleted = await deleteBranch(git, placeOf(row), content.branchCommit)
    if (deleted.kind !== 'done') {
      context.log.write('warn', 'branch of a worktree not deleted', {
        terminalId,
        branch,
        why: describeRefusal(deleted),
      })
    }
  }
  await removeFolder(context, terminalId)
  await rm(setupLogOf(context, terminalId), { force: true })
  tell(context, { type: 'worktree.removed', terminalId, path, branch }, () =>
    context.store.worktrees.delete(terminalId),
  )
}

/** Only when it is empty: what else lies there is not ours to judge. */
async function removeFolder(context: AppContext, id: TerminalId): Promise<void> {
  await rmdir(worktreeFolder(context, id)).catch((error: unknown) =>
    context.log.write('warn', 'folder of a worktree not removed', { terminalId: id, error: String(error) }),
  )
}

type Why = { readonly detail: string; readonly work: WorktreeWork | undefined }

function keep(context: AppContext, row: Worktree, { detail, work }: Why): Released {
  const { terminalId, path, branch, state } = row
  const { changedFiles, commitsAhead } = work ?? { changedFiles: 0, commitsAhead: 0 }
  if (state === 'kept' && row.detail === detail) return 'kept'
  const event = { type: 'worktree.kept', terminalId, path, branch, changedFiles, commitsAhead, detail } as const
  tell(context, event, () => context.store.worktrees.setState(terminalId, 'kept', { detail }))
  if (state !== 'kept') tellCaller(context, row, detail)
  return 'kept'
}

/** Somebody removed the directory; what was committed is on its branch, which stays. */
export function noteMissing(context: AppContext, row: Worktree): Released {
  const { terminalId, path, branch } = row
  const detail = `its directory was removed by somebody; what was committed is on ${branch}`
  if (row.state !== 'missing') {
    tell(context, { type: 'worktree.missing', terminalId, path, branch }, () =>
      context.store.worktrees.setState(terminalId, 'missing', { detail }),
    )
  }
  return 'kept'
}

function tell(context: AppContext, body: DomainEventBody, change: () => void): void {
  const { store, clock, events } = context
  const event = store.transaction(() => {
    change()
    return store.events.append(body, clock.nowMs())
  })
  events.announce(event)
}

function tellCaller(context: AppContext, row: Worktree, detail: string): void {
  const { terminalId, profileName, callerId, path, branch, baseBranch } = row
  if (callerId === undefined || context.store.terminals.find(callerId)?.life !== 'live') return
  const body = [
    `The worktree of your worker ${profileName} (${terminalId}) was kept: ${detail}.`,
    `Directory: ${path}`,
    `Branch: ${branch}${baseBranch === undefined ? '' : ` (made from ${baseBranch})`}`,
    'Nothing of it is lost. Commit there what is not committed, merge the branch where you want it, and then remove the',
    `worktree: cao worktree remove ${terminalId}`,
  ].join('\n')
  try {
    queueMessage(context, { kind: 'notice', senderId: 'cao', receiverId: callerId, body, jobId: undefined })
  } catch (error) {
    context.log.write('warn', 'caller not told of a worktree', { terminalId, callerId, error: String(error) })
  }
}

/** Removes it with whatever is in it. Errors: the signal's reason. */
export async function discardWorktree(context: AppContext, row: Worktree, git: GitContext): Promise<void> {
  assertOurs(context, row)
  const content = await inspectWorktree(git, placeOf(row))
  const removed = await forceRemove(git, placeOf(row))
  if (removed.kind !== 'done') context.log.write('warn', 'git kept its record', { why: describeRefusal(removed) })
  const facts: WorktreeContent =
    content.kind === 'content'
      ? content
      : {
          kind: 'content',
          isThere: true,
          changedFiles: 0,
          commitsAhead: 0,
          headBranch: undefined,
          branchCommit: undefined,
        }
  await forget(context, row, facts, git)
}

/** The undo of a launch. Nobody has worked in one that is only planned; any other is released as at a deletion. Errors: none. */
export async function takeBackWorktree(context: AppContext, id: TerminalId): Promise<void> {
  const row = context.store.worktrees.find(id)
  if (row === undefined) return
  if (row.state !== 'planned') return void (await releaseWorktree(context, id))
  using limit = deadlineSignal(context.clock, releaseLimitMs, `the half-made worktree of ${id} to be removed`)
  try {
    assertOurs(context, row)
    const git = gitOf(context, limit.signal)
    const removed = await forceRemove(git, placeOf(row))
    if (removed.kind !== 'done') throw new Error(describeRefusal(removed))
    // Only where it still stands at its beginning: then there is nothing on it.
    await deleteBranch(git, placeOf(row), row.baseCommit)
    await removeFolder(context, id)
    context.store.worktrees.delete(id)
  } catch (error) {
    context.log.write('warn', 'half-made worktree not removed; the next start tries again', {
      id,
      error: String(error),
    })
  }
}

/**
 * What an earlier server left: half-made ones go, those whose terminal has ended are released, those that were kept and
 * are merged by now go as well, and those that somebody removed are told of. To be called before a launch can begin.
 */
export async function sweepWorktrees(context: AppContext, signal: AbortSignal): Promise<void> {
  const rows = context.store.worktrees.list()
  for (const row of rows) {
    if (signal.aborted) return
    if (row.state === 'planned') {
      for (const pauseMs of takeBackPausesMs) {
        if (context.store.worktrees.find(row.terminalId) === undefined) break
        await sleep(context.clock, pauseMs, signal)
        await takeBackWorktree(context, row.terminalId)
      }
    } else if (hasOwner(context, row)) await notePresence(context, row)
    else await releaseWorktree(context, row.terminalId)
  }
}

async function notePresence(context: AppContext, row: Worktree): Promise<void> {
  const isThere = (await stat(row.path).catch(() => undefined))?.isDirectory() === true
  if (!isThere) noteMissing(context, row)
  else if (row.state === 'missing') context.store.worktrees.setState(row.terminalId, 'ready')
}

/** While a terminal goes, after its agent has ended: its own worktree, and those whose last user it was. */
export async function releaseAfter(context: AppContext, { id, workingDirectory }: Terminal): Promise<void> {
  for (const row of context.store.worktrees.list()) {
    const isConcerned = row.terminalId === id || isWithin(row.path, workingDirectory)
    if (isConcerned && row.state !== 'planned' && !hasOwner(context, row))
      await releaseWorktree(context, row.terminalId)
  }
}
