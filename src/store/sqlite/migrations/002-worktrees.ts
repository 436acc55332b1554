/** Worktrees: rows of their own, since one may outlive its terminal for as long as it holds work. */
import type { Migration } from './migration.ts'

export const worktrees: Migration = {
  version: 2,
  sql: `
CREATE TABLE worktrees (
  terminal_id TEXT NOT NULL PRIMARY KEY,
  profile_name TEXT NOT NULL,
  caller_id TEXT,
  git_dir TEXT NOT NULL,
  source_dir TEXT NOT NULL,
  path TEXT NOT NULL,
  branch TEXT NOT NULL,
  base_commit TEXT NOT NULL,
  base_branch TEXT,
  state TEXT NOT NULL,
  notes TEXT NOT NULL CHECK (json_valid(notes)),
  detail TEXT,
  created_at_ms INTEGER NOT NULL
) STRICT;
`,
}
