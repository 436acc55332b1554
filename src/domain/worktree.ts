/**
 * A git worktree of one agent's own: a directory with a branch, made from where a person or a caller works. It may outlive
 * its terminal, for what an agent did is never thrown away with it. What it holds at present is asked of git.
 */
import type { TerminalId } from './ids.ts'

/**
 * planned: being made; nobody has worked in it, so that what is left of it may be removed. ready: an agent has it.
 * kept: its terminal is gone and it holds work, or could not be removed. missing: somebody removed its directory.
 */
export const worktreeStates = ['planned', 'ready', 'kept', 'missing'] as const
export type WorktreeState = (typeof worktreeStates)[number]

export type Worktree = {
  /** Whose it is; also its name. */
  readonly terminalId: TerminalId
  readonly profileName: string
  readonly callerId: TerminalId | undefined
  /** Git's common directory of the repository. */
  readonly gitDir: string
  /** The directory that was asked for, in the working tree that it was made from. */
  readonly sourceDir: string
  readonly path: string
  readonly branch: string
  readonly baseCommit: string
  /** Undefined: made from a detached HEAD. */
  readonly baseBranch: string | undefined
  readonly state: WorktreeState
  /** What a person should know of it, a sentence each: what was not carried over, a set-up that was not run. */
  readonly notes: readonly string[]
  /** Why it was kept, or what is wrong with it. */
  readonly detail: string | undefined
  readonly createdAtMs: number
}

/** What is in it that would be lost with it. */
export type WorktreeWork = { readonly changedFiles: number; readonly commitsAhead: number }

const nameLengthMax = 40

/** `cao-PROFILE-ID`: no "/", so that a branch called `cao` is not in the way, and the id makes it one of its kind. */
export function worktreeBranch(profileName: string, id: TerminalId, attempt = 0): string {
  return `cao-${plainName(profileName)}-${id}${attempt === 0 ? '' : `-${attempt + 1}`}`
}

/** Letters, digits, `_` and `-` of a name that may hold anything; never empty. */
export function plainName(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_-]+/g, '-').replaceAll(/^-+|-+$/g, '')
  return plain.slice(0, nameLengthMax) || 'work'
}

/** `3 changed files and 1 commit`; empty when there is nothing. */
export function describeWork({ changedFiles, commitsAhead }: WorktreeWork): string {
  const files = changedFiles === 0 ? [] : [`${changedFiles} changed ${changedFiles === 1 ? 'file' : 'files'}`]
  const commits = commitsAhead === 0 ? [] : [`${commitsAhead} unmerged ${commitsAhead === 1 ? 'commit' : 'commits'}`]
  return [...files, ...commits].join(' and ')
}
