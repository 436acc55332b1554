/**
 * A terminal: one agent in one pane, and what is kept about it. Its life (does the pane exist?) is a
 * table here; what the agent is doing is a different question with its own file, `status.ts`.
 */
import type { Result } from '../lib/result.ts'
import type { InstanceId, SessionName, TerminalId } from './ids.ts'
import { applyStep, type IllegalMove, type Moves } from './table.ts'

export const lifeStates = ['planned', 'live', 'exited', 'lost', 'deleting', 'deleted'] as const
export type Life = (typeof lifeStates)[number]
export const lifeSteps = ['open', 'exit', 'lose', 'relaunch', 'delete', 'finish'] as const
export type LifeStep = (typeof lifeSteps)[number]

/** Legal moves; `terminal.test.ts` walks every pair. */
export const lifeMoves: Moves<Life, LifeStep> = {
  // The row stands before the pane does, so that a crash in between leaves something to clean up by.
  planned: { open: 'live', lose: 'lost', delete: 'deleting' },
  live: { exit: 'exited', lose: 'lost', delete: 'deleting' },
  exited: { relaunch: 'planned', delete: 'deleting' },
  lost: { relaunch: 'planned', delete: 'deleting' },
  // Deleting again is the same wish, not an error; it ends once.
  deleting: { delete: 'deleting', finish: 'deleted' },
  deleted: {},
}

export function stepLife(from: Life, step: LifeStep): Result<Life, IllegalMove<Life, LifeStep>> {
  return applyStep(lifeMoves, from, step)
}

/** How an agent's process ended. Code and signal are both undefined when it ended from outside, unseen. */
export type Exit = {
  readonly code: number | undefined
  readonly signal: string | undefined
  readonly atMs: number
}

/** Where a terminal is: never an index, a name or "the active pane". */
export type PaneRef = { readonly instanceId: InstanceId; readonly paneId: string }

/** JSON that a provider needs to find its agent again after our restart (port, vendor session id, paths); never a secret. */
export type Binding = Readonly<Record<string, string | number | boolean | null>>

export type Terminal = {
  readonly id: TerminalId
  readonly sessionName: SessionName
  /** Window name shown to people; a label, never an address. */
  readonly name: string
  readonly provider: string
  readonly profileName: string
  readonly callerId: TerminalId | undefined
  readonly allowedTools: readonly string[] | undefined
  /** What agents that it launches may have at most; undefined: no limit. */
  readonly teamTools: readonly string[] | undefined
  readonly workingDirectory: string
  readonly program: string
  readonly argv: readonly string[]
  readonly binding: Binding
  /** What it asks before, in words; named at launch. */
  readonly permissionMode: string
  /** Tool limits of its profile that its CLI can not enforce; said aloud at launch. */
  readonly limitsNotEnforced: readonly string[]
  /** Asked for at launch; undefined: the profile's. */
  readonly model: string | undefined
  /** Names of the extra environment variables it was given; their values are not kept. */
  readonly envNames: readonly string[]
  readonly life: Life
  readonly pane: PaneRef | undefined
  readonly exit: Exit | undefined
  /** Why it is lost, in a sentence. */
  readonly lostReason: string | undefined
  readonly group: readonly string[] | undefined
  readonly metadata: Readonly<Record<string, unknown>> | undefined
  readonly createdAtMs: number
  readonly lastActiveAtMs: number
}

export type Session = { readonly name: SessionName; readonly createdAtMs: number; readonly workingDirectory: string }
