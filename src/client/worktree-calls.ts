/** What can be asked about worktrees. */
import { paths } from '../protocol/paths.ts'
import type { SuccessBody } from '../protocol/terminal.ts'
import type { SetupBody, WorktreeBody } from '../protocol/worktree.ts'
import type { CallOptions, Verbs } from './ask.ts'

export function worktreeCalls({ put, slowDelete, slowGet }: Verbs) {
  return {
    /** `look: false` asks git nothing, and is quick. */
    listWorktrees: (query: { look?: boolean } = {}, how?: CallOptions) =>
      slowGet<readonly WorktreeBody[]>(paths.worktrees(), { query: { look: String(query.look ?? true) } }, how),
    removeWorktree: (id: string, query: { force?: boolean } = {}, how?: CallOptions) =>
      slowDelete<SuccessBody>(paths.worktree(id), { query: { force: String(query.force ?? false) } }, how),
    showWorktreeSetup: (directory: string, how?: CallOptions) =>
      slowGet<SetupBody>(paths.worktreeSetup(), { query: { directory } }, how),
    /** Undefined takes the permission back. */
    trustWorktreeSetup: (directory: string, digest: string | undefined, how?: CallOptions) =>
      put<SetupBody>(paths.worktreeSetup(), { body: { directory, digest: digest ?? null } }, how),
  }
}
