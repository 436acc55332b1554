/** Worktrees: where each is, whose it is, and why it is still there. */
import { type TerminalId, trustId } from '../../domain/ids.ts'
import { type Worktree, worktreeStates } from '../../domain/worktree.ts'
import type { WorktreeRows } from '../store.ts'
import { readInteger, readJson, readOneOf, readOptional, readText, writeJson } from './columns.ts'
import type { Database, Row } from './database.ts'

function toWorktree(row: Row): Worktree {
  return {
    terminalId: trustId<TerminalId>(readText(row, 'terminal_id')),
    profileName: readText(row, 'profile_name'),
    callerId: readOptional(row, 'caller_id', (r, c) => trustId<TerminalId>(readText(r, c))),
    gitDir: readText(row, 'git_dir'),
    sourceDir: readText(row, 'source_dir'),
    path: readText(row, 'path'),
    branch: readText(row, 'branch'),
    baseCommit: readText(row, 'base_commit'),
    baseBranch: readOptional(row, 'base_branch', readText),
    state: readOneOf(row, 'state', worktreeStates),
    notes: readJson(row, 'notes'),
    detail: readOptional(row, 'detail', readText),
    createdAtMs: readInteger(row, 'created_at_ms'),
  }
}

const insertSql = `
INSERT INTO worktrees (terminal_id, profile_name, caller_id, git_dir, source_dir, path, branch, base_commit, base_branch,
  state, notes, detail, created_at_ms)
VALUES (:terminalId, :profileName, :callerId, :gitDir, :sourceDir, :path, :branch, :baseCommit, :baseBranch,
  :state, :notes, :detail, :createdAtMs)`

export function createWorktreeRows(database: Database): WorktreeRows {
  return {
    insert(worktree) {
      database.run(insertSql, {
        ...worktree,
        callerId: worktree.callerId ?? null,
        baseBranch: worktree.baseBranch ?? null,
        notes: writeJson(worktree.notes),
        detail: worktree.detail ?? null,
      })
    },
    find(id) {
      const row = database.get('SELECT * FROM worktrees WHERE terminal_id = :id', { id })
      return row && toWorktree(row)
    },
    list: () => database.all('SELECT * FROM worktrees ORDER BY created_at_ms, rowid', {}).map(toWorktree),
    setState(id, state, { detail, notes } = {}) {
      const sql = `UPDATE worktrees SET state = :state, detail = :detail, notes = ifnull(:notes, notes)
        WHERE terminal_id = :id`
      database.run(sql, { id, state, detail: detail ?? null, notes: writeJson(notes) })
    },
    delete: (id) => database.run('DELETE FROM worktrees WHERE terminal_id = :id', { id }) > 0,
  }
}
