/** Terminals: their record, their life, and where the readers of their channels stand. */
import { AppError } from '../../domain/errors.ts'
import type { SessionName, TerminalId } from '../../domain/ids.ts'
import { trustId } from '../../domain/ids.ts'
import { type Exit, type Life, type LifeStep, lifeStates, stepLife, type Terminal } from '../../domain/terminal.ts'
import { assert } from '../../lib/assert.ts'
import type { Cursor, TerminalRows } from '../store.ts'
import { readInteger, readJson, readOneOf, readOptional, readText, writeJson } from './columns.ts'
import type { Database, Row, Parameters as Values } from './database.ts'
import { moveRow } from './move.ts'

type Facts = NonNullable<Parameters<TerminalRows['step']>[2]>

function toTerminal(row: Row): Terminal {
  const exit = readOptional(row, 'exit', readJson<Partial<Exit> & { atMs: number }>)
  return {
    id: trustId<TerminalId>(readText(row, 'id')),
    sessionName: trustId<SessionName>(readText(row, 'session_name')),
    name: readText(row, 'name'),
    provider: readText(row, 'provider'),
    profileName: readText(row, 'profile_name'),
    callerId: readOptional(row, 'caller_id', (r, c) => trustId<TerminalId>(readText(r, c))),
    allowedTools: readOptional(row, 'allowed_tools', readJson<readonly string[]>),
    teamTools: readOptional(row, 'team_tools', readJson<readonly string[]>),
    workingDirectory: readText(row, 'working_directory'),
    program: readText(row, 'program'),
    argv: readJson(row, 'argv'),
    binding: readJson(row, 'binding'),
    permissionMode: readText(row, 'permission_mode'),
    limitsNotEnforced: readJson(row, 'limits_not_enforced'),
    model: readOptional(row, 'model', readText),
    envNames: readJson(row, 'env_names'),
    life: readOneOf(row, 'life', lifeStates),
    pane: readOptional(row, 'pane', readJson<NonNullable<Terminal['pane']>>),
    exit: exit && { code: exit.code, signal: exit.signal, atMs: exit.atMs },
    lostReason: readOptional(row, 'lost_reason', readText),
    group: readOptional(row, 'group_path', readJson<readonly string[]>),
    metadata: readOptional(row, 'metadata', readJson<Readonly<Record<string, unknown>>>),
    createdAtMs: readInteger(row, 'created_at_ms'),
    lastActiveAtMs: readInteger(row, 'last_active_at_ms'),
  }
}

const insertSql = `
INSERT INTO terminals (id, session_name, name, provider, profile_name, caller_id, allowed_tools, team_tools, working_directory,
  program, argv, binding, permission_mode, limits_not_enforced, model, env_names, life, group_path, metadata, created_at_ms, last_active_at_ms)
VALUES (:id, :sessionName, :name, :provider, :profileName, :callerId, :allowedTools, :teamTools, :workingDirectory,
  :program, :argv, :binding, :permissionMode, :limitsNotEnforced, :model, :envNames, 'planned', :group, :metadata, :createdAtMs, :createdAtMs)
RETURNING *`

const stepSql = `
UPDATE terminals SET life = :to, pane = :pane, exit = :exit, lost_reason = :lostReason,
  last_active_at_ms = max(last_active_at_ms, :atMs)
WHERE id = :id AND life = :from
RETURNING *`

/** What a step leaves in pane, exit and lostReason: each stays until it is replaced, a relaunch begins a new life. */
function applyFacts(terminal: Terminal, step: LifeStep, facts: Facts): Pick<Terminal, 'pane' | 'exit' | 'lostReason'> {
  switch (step) {
    case 'open':
      assert(facts.pane !== undefined, `terminal ${terminal.id} was opened without a pane`)
      return { pane: facts.pane, exit: undefined, lostReason: undefined }
    case 'exit':
      return { ...terminal, exit: facts.exit }
    case 'lose':
      return { ...terminal, lostReason: facts.reason }
    case 'relaunch':
      return { pane: undefined, exit: undefined, lostReason: undefined }
    case 'delete':
    case 'finish':
      return terminal
  }
}

type Fields = 'setBinding' | 'setLaunch' | 'setGroup' | 'setMetadata' | 'touch' | 'loadCursor' | 'saveCursor'

/** What changes without a step of life. */
function createFields(database: Database): Pick<TerminalRows, Fields> {
  const set = (id: TerminalId, assignments: string, values: Values): void => {
    const changes = database.run(`UPDATE terminals SET ${assignments} WHERE id = :id`, { id, ...values })
    if (changes === 0) throw new AppError('NOT_FOUND', `There is no terminal ${id}`)
  }
  return {
    setBinding: (id, binding) => set(id, 'binding = :binding', { binding: writeJson(binding) }),
    setLaunch: (id, { argv, binding, permissionMode, limitsNotEnforced }) =>
      set(id, 'argv = :argv, binding = :binding, permission_mode = :permissionMode, limits_not_enforced = :limits', {
        argv: writeJson(argv),
        binding: writeJson(binding),
        permissionMode,
        limits: writeJson(limitsNotEnforced),
      }),
    setGroup: (id, group) => set(id, 'group_path = :group', { group: writeJson(group) }),
    setMetadata: (id, metadata) => set(id, 'metadata = :metadata', { metadata: writeJson(metadata) }),
    // A hint of a late worker: a terminal that is gone is no fault here.
    touch(id, atMs) {
      const sql = 'UPDATE terminals SET last_active_at_ms = :atMs WHERE id = :id AND last_active_at_ms < :atMs'
      database.run(sql, { id, atMs })
    },
    loadCursor(id) {
      const row = database.get('SELECT output_offset, hook_offset, turns_ended FROM terminals WHERE id = :id', { id })
      return row === undefined ? { outputOffset: 0, hookOffset: 0, turnsEnded: 0 } : toCursor(row)
    },
    saveCursor: (id, { outputOffset, hookOffset, turnsEnded }) =>
      set(id, 'output_offset = :outputOffset, hook_offset = :hookOffset, turns_ended = :turnsEnded', {
        outputOffset,
        hookOffset,
        turnsEnded,
      }),
  }
}

export function createTerminalRows(database: Database): TerminalRows {
  const find = (id: TerminalId): Terminal | undefined => {
    const row = database.get('SELECT * FROM terminals WHERE id = :id', { id })
    return row && toTerminal(row)
  }
  return {
    insert(terminal) {
      const row = database.get(insertSql, {
        id: terminal.id,
        sessionName: terminal.sessionName,
        name: terminal.name,
        provider: terminal.provider,
        profileName: terminal.profileName,
        callerId: terminal.callerId ?? null,
        allowedTools: writeJson(terminal.allowedTools),
        teamTools: writeJson(terminal.teamTools),
        workingDirectory: terminal.workingDirectory,
        program: terminal.program,
        argv: writeJson(terminal.argv),
        binding: writeJson(terminal.binding),
        permissionMode: terminal.permissionMode,
        limitsNotEnforced: writeJson(terminal.limitsNotEnforced),
        model: terminal.model ?? null,
        envNames: writeJson(terminal.envNames),
        group: writeJson(terminal.group),
        metadata: writeJson(terminal.metadata),
        createdAtMs: terminal.createdAtMs,
      })
      assert(row !== undefined, 'an inserted terminal came back empty')
      return toTerminal(row)
    },
    find,
    list(sessionName) {
      const sql = `SELECT * FROM terminals WHERE life <> 'deleted' AND (:name IS NULL OR session_name = :name)
        ORDER BY created_at_ms, rowid`
      return database.all(sql, { name: sessionName ?? null }).map(toTerminal)
    },
    step: (id, step, facts = {}) =>
      moveRow<Terminal, Life>({
        find: () => find(id),
        state: (terminal) => terminal.life,
        decide: (from) => stepLife(from, step),
        update(terminal, from, to) {
          const { pane, exit, lostReason } = applyFacts(terminal, step, facts)
          const row = database.get(stepSql, {
            id,
            from,
            to,
            pane: writeJson(pane),
            exit: writeJson(exit),
            lostReason: lostReason ?? null,
            atMs: facts.atMs ?? facts.exit?.atMs ?? 0,
          })
          return row && toTerminal(row)
        },
      }),
    ...createFields(database),
  }
}

const toCursor = (row: Row): Cursor => ({
  outputOffset: readInteger(row, 'output_offset'),
  hookOffset: readInteger(row, 'hook_offset'),
  turnsEnded: readInteger(row, 'turns_ended'),
})
