/** What every use case is given. Built once in `create-app.ts`; nothing here is global. */
import type { Scope } from '../async/scope.ts'
import type { SerialQueue } from '../async/serial-queue.ts'
import type { TerminalBackend } from '../backend/backend.ts'
import { AppError } from '../domain/errors.ts'
import type { TerminalId } from '../domain/ids.ts'
import type { LifeStep, Terminal } from '../domain/terminal.ts'
import type { SkillFiles } from '../home/skill-files.ts'
import type { ProviderRegistry } from '../providers/registry.ts'
import type { Size } from '../screen/snapshot.ts'
import type { Store } from '../store/store.ts'
import type { BackendGuard } from './backend-guard.ts'
import type { Capabilities } from './capabilities.ts'
import type { CoreContext } from './core-context.ts'
import type { ProfileFiles } from './profile-files.ts'
import type { Runtime } from './runtime.ts'

/** argv of the stable programs that agents call: they outlive an upgrade under running agents. */
export type Shims = { readonly hookArgv: readonly string[]; readonly mcpArgv: readonly string[] }

/** What a person has set for launches that do not say it (`protocol/options.ts`). */
export type LaunchDefaults = {
  readonly provider: string | undefined
  /** For an agent to become ready. Undefined: its provider's own. Units: ms. */
  readonly startupLimitMs: number | undefined
  /** Of every pane; a person's smaller window does not change it. */
  readonly size: Size
}

/** What a launch is held to (`admission.ts`). */
export type LaunchLimits = {
  /** Of the chain from whoever a person started: 1 is its worker. */
  readonly depthMax: number
  /** Agents in one session that another agent started. */
  readonly sessionWorkersMax: number
  /** Zero: not looked at. Units: MiB. */
  readonly memoryMinMib: number
  /** The load of one minute for each core; zero: not looked at. */
  readonly loadMax: number
}

export type AppContext = CoreContext & {
  readonly backend: TerminalBackend
  readonly guard: BackendGuard
  readonly providers: ProviderRegistry
  readonly profiles: ProfileFiles
  readonly skills: SkillFiles
  readonly launchDefaults: LaunchDefaults
  readonly limits: LaunchLimits
  readonly shims: Shims
  readonly capabilities: Capabilities
  /** Where agents reach this server. */
  readonly socketPath: string
  /** Environment of the server process: the client's environment when a request brings none. */
  readonly serverEnv: Readonly<Record<string, string>>
  /** Background work of the whole app. */
  readonly scope: Scope
  readonly runtimes: Map<TerminalId, Runtime>
  /** Former lives whose processes are still being ended: a new life of the same terminal begins after that. Never rejects. */
  readonly endings: Map<TerminalId, Promise<void>>
  /** Worktrees go one after the other: two that each hold the other's commits must not both count as merged. */
  readonly worktreeEnds: SerialQueue
}

/** Errors: NOT_FOUND for an unknown or deleted terminal. */
export function requireTerminal(context: Pick<CoreContext, 'store'>, id: TerminalId): Terminal {
  const terminal = context.store.terminals.find(id)
  if (terminal === undefined || terminal.life === 'deleted') {
    throw new AppError('NOT_FOUND', `there is no terminal ${id}; \`cao ls\` lists those there are`)
  }
  return terminal
}

/** Errors: NOT_FOUND, BLOCKED when its pane is not alive. */
export function requireRuntime(context: AppContext, id: TerminalId): Runtime {
  const terminal = requireTerminal(context, id)
  const runtime = context.runtimes.get(id)
  if (runtime === undefined || terminal.life !== 'live') {
    throw new AppError('BLOCKED', `terminal ${id} has no running agent (${terminal.life}${because(terminal)})`)
  }
  return runtime
}

function because(terminal: Terminal): string {
  if (terminal.lostReason !== undefined) return `: ${terminal.lostReason}`
  if (terminal.exit === undefined) return ''
  return `: ${terminal.exit.signal ?? (terminal.exit.code === undefined ? 'ended unseen' : `exit code ${terminal.exit.code}`)}`
}

export type LifeFacts = Parameters<Store['terminals']['step']>[2]

/** Moves a terminal along its life table, row and event in one transaction. False: the table forbids it. */
export function stepTerminal(context: AppContext, id: TerminalId, step: LifeStep, facts: LifeFacts = {}): boolean {
  const { store, clock, events, log } = context
  const atMs = clock.nowMs()
  const done = store.transaction(() => {
    const moved = store.terminals.step(id, step, { atMs, ...facts })
    if (moved.kind !== 'moved') return undefined
    const from = moved.from as Terminal['life']
    const to = moved.row.life
    const detail = facts.reason
    return { to, event: store.events.append({ type: 'terminal.life_changed', terminalId: id, from, to, detail }, atMs) }
  })
  if (done === undefined) return false
  log.write('info', 'terminal life moved', { terminalId: id, to: done.to, because: facts.reason })
  events.announce(done.event)
  return true
}
