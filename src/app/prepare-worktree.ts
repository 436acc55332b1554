/**
 * Makes the worktree of one new agent: looks at the repository, writes the row (`planned`), lets git make directory and
 * branch, runs the set-up. The row stands first, so that a crash at any point leaves something to clean up by; whatever
 * fails is taken back as a whole, since nobody has worked in it yet.
 */
import { mkdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { deadlineSignal, type Waiting } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import type { TerminalId } from '../domain/ids.ts'
import { plainName, type Worktree, worktreeBranch } from '../domain/worktree.ts'
import { type GitContext, withoutOwnPrograms } from '../git/git.ts'
import { countChanges, findRepository, hasDirectory, type Repository } from '../git/repository.ts'
import { addWorktree, findBranch } from '../git/worktree.ts'
import type { AppContext } from './context.ts'
import { takeBackWorktree } from './release-worktree.ts'
import { gitOf, placeOf, toFault, worktreeFolder } from './worktree-git.ts'
import { findSetup, runSetup } from './worktree-setup.ts'

/** Kept ones count too: they are disk space that somebody has to look at. */
export const worktreesMax = 200
/** Shorter than a client waits for a launch. Units: ms. */
const prepareLimitMs = 260_000
const branchAttemptsMax = 5

export type PrepareWorktree = {
  readonly id: TerminalId
  readonly profileName: string
  readonly callerId: TerminalId | undefined
  /** Where it would work without one. */
  readonly directory: string
  readonly clientEnv: Readonly<Record<string, string>>
}

export type PreparedWorktree = { readonly row: Worktree; readonly cwd: string; readonly undo: AsyncDisposable }

/**
 * Errors: BAD_REQUEST (no repository, a bare or empty one, a directory that is not committed), PROGRAM_MISSING, STORAGE_FULL,
 * TIMEOUT, LAUNCH_FAILED (the set-up), QUEUE_FULL. Owns: `undo` takes it back, or keeps it where there is work in it by then.
 */
export async function prepareWorktree(
  context: AppContext,
  request: PrepareWorktree,
  waiting: Waiting,
): Promise<PreparedWorktree> {
  const { clock, scope, store } = context
  const { id, directory } = request
  if (store.worktrees.list().length >= worktreesMax) {
    const advice = '`cao worktree list` shows them, `cao worktree remove` removes one'
    throw new AppError('QUEUE_FULL', `there are ${worktreesMax} worktrees already: ${advice}`)
  }
  const either = AbortSignal.any([waiting.signal, scope.signal])
  using limit = deadlineSignal(clock, prepareLimitMs, `a worktree of ${directory}`, either)
  const git = gitOf(context, limit.signal)
  const repository = await requireRepository(git, directory)
  const row = await planRow(context, git, { ...request, repository })
  await using stack = new AsyncDisposableStack()
  stack.defer(() => takeBackWorktree(context, id))
  store.worktrees.insert(row)
  await mkdir(worktreeFolder(context, id), { recursive: true, mode: 0o700 })
  const added = await addWorktree(git, placeOf(row))
  if (added.kind !== 'added') throw toFault(added, `no worktree of ${repository.topDir} could be made`)
  const notes = [
    ...added.filters.map((name) => `the filter ${name} of the repository's own configuration was not run`),
    ...(await describeLeftBehind(git, repository, row.path)),
    ...(await setUp(context, { ...request, repository, row }, limit.signal)),
  ]
  store.worktrees.setState(id, 'planned', { notes })
  return { row: { ...row, notes }, cwd: join(row.path, repository.subDir), undo: stack.move() }
}

/** Errors: as `prepareWorktree`. */
export async function requireRepository(git: GitContext, directory: string): Promise<Repository> {
  const refuse = (why: string) => new AppError('BAD_REQUEST', `a worktree of ${directory} can not be made: ${why}`)
  if ((await stat(directory).catch(() => undefined))?.isDirectory() !== true) throw refuse('there is no such directory')
  const found = await findRepository(git, directory)
  if (found.kind === 'none') {
    throw refuse('it is in no git repository; leave use_worktree out, or run "git init" there and commit')
  }
  if (found.kind === 'bare') throw refuse('its repository is bare; name a directory of a checkout')
  if (found.kind === 'empty') throw refuse('its repository has no commit yet; commit something first')
  if (found.kind !== 'found') throw toFault(found, `a worktree of ${directory} can not be made`)
  const { repository } = found
  if (repository.subDir === '' || (await hasDirectory(git, repository, repository.subDir))) return repository
  throw refuse(`${repository.subDir} is not in the last commit of ${repository.topDir}; commit it first`)
}

type PlanRow = PrepareWorktree & { readonly repository: Repository }

async function planRow(context: AppContext, git: GitContext, plan: PlanRow): Promise<Worktree> {
  const { id, profileName, callerId, repository, directory } = plan
  const { gitDir, headCommit, headBranch, topDir } = repository
  return {
    terminalId: id,
    profileName,
    callerId,
    gitDir,
    sourceDir: directory,
    // The last part is the project's own name: programs and people read it.
    path: join(worktreeFolder(context, id), plainName(basename(topDir))),
    branch: await findFreeBranch(git, gitDir, { profileName, id }),
    baseCommit: headCommit,
    baseBranch: headBranch,
    state: 'planned',
    notes: [],
    detail: undefined,
    createdAtMs: context.clock.nowMs(),
  }
}

type Naming = { readonly profileName: string; readonly id: TerminalId }

async function findFreeBranch(git: GitContext, gitDir: string, { profileName, id }: Naming): Promise<string> {
  for (let attempt = 0; attempt < branchAttemptsMax; attempt++) {
    const branch = worktreeBranch(profileName, id, attempt)
    if ((await findBranch(git, gitDir, branch)) === undefined) return branch
  }
  throw new AppError('CONFLICT', `the repository has branches called ${worktreeBranch(profileName, id)} already`)
}

/** A worktree is what was committed: whoever expects more is told. */
async function describeLeftBehind(git: GitContext, { topDir }: Repository, path: string): Promise<readonly string[]> {
  const safe = await withoutOwnPrograms(git, topDir)
  const count = safe.kind === 'safe' ? ((await countChanges(safe.git, topDir)).count ?? 0) : 0
  const files = count === 1 ? '1 uncommitted change' : `${count} uncommitted changes`
  const hasSubmodules = (await stat(join(path, '.gitmodules')).catch(() => undefined)) !== undefined
  return [
    ...(count === 0 ? [] : [`${files} of ${topDir} ${count === 1 ? 'is' : 'are'} not in it`]),
    ...(hasSubmodules ? ['its submodules are empty until "git submodule update --init" is run in it'] : []),
  ]
}

type SetUp = PrepareWorktree & { readonly repository: Repository; readonly row: Worktree }

async function setUp(context: AppContext, request: SetUp, signal: AbortSignal): Promise<readonly string[]> {
  const { id, clientEnv, repository, row } = request
  const setup = await findSetup(context, repository)
  if (setup === undefined) return []
  if (!setup.isAllowed) {
    const allow = `"cao worktree trust ${repository.topDir}" allows it`
    return [`its set-up was not run, since nobody has allowed ${setup.file}: ${allow}`]
  }
  const { path, branch } = row
  await runSetup(context, { id, setup, path, branch, sourceDir: repository.topDir, clientEnv, signal })
  return []
}
