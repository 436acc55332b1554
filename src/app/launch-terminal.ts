/**
 * Starts one new agent: row, directories, settings, pane, runtime. Each step registers its undo; what fails leaves
 * nothing behind. The row stands before the pane, so that even a crash in between is found.
 */
import type { Waiting } from '../async/wait.ts'
import type { DomainEvent } from '../domain/events.ts'
import { makeTerminalId, type SessionName, type TerminalId } from '../domain/ids.ts'
import type { Terminal } from '../domain/terminal.ts'
import type { LaunchPlan } from '../providers/provider.ts'
import type { CreateTerminal } from './app.ts'
import { type AppContext, stepTerminal } from './context.ts'
import { planAgent, preparePlace } from './plan-agent.ts'
import { prepareWorktree } from './prepare-worktree.ts'
import type { ResolvedLaunch } from './resolve-launch.ts'
import type { RuntimeListeners } from './runtime.ts'
import { insertSession } from './sessions.ts'
import { type StartedAgent, startAgent } from './start-agent.ts'
import { removeTerminalDirs, terminalDirs } from './terminal-dirs.ts'

export type LaunchOptions = {
  readonly sessionName: SessionName
  readonly request: CreateTerminal
  readonly resolved: ResolvedLaunch
  readonly listeners: RuntimeListeners
  /** Called in the transaction of the new row. */
  readonly onInserted?: ((id: TerminalId) => void) | undefined
}

/** Returns the runtime of a started agent that is not yet known to be ready; disposing `undo` takes everything back. */
export async function launchTerminal(
  context: AppContext,
  options: LaunchOptions,
  waiting: Waiting,
): Promise<StartedAgent> {
  const { capabilities, layout, random } = context
  const { sessionName, request, listeners } = options
  const id = makeTerminalId(random)
  await using stack = new AsyncDisposableStack()
  stack.defer(async () => {
    capabilities.revoke(id)
    await removeTerminalDirs(terminalDirs(layout, id))
  })
  const worktree = request.useWorktree === true ? await giveWorktree(context, options, id, waiting) : undefined
  if (worktree !== undefined) stack.use(worktree.undo)
  const resolved = { ...options.resolved, cwd: worktree?.cwd ?? options.resolved.cwd }
  const place = await preparePlace(context, id, sessionName)
  const plan = await planAgent(context, place, { resolved, model: request.model, resume: undefined })
  stack.defer(() => forgetRow(context, id))
  const row = insertRow(context, { ...options, resolved, sessionDir: options.resolved.cwd }, id, plan)
  const started = await startAgent(context, { row, plan, place, resolved, listeners, undoStep: 'delete' }, waiting)
  stack.use(started.undo)
  return { runtime: started.runtime, undo: stack.move() }
}

function giveWorktree(context: AppContext, { request, resolved }: LaunchOptions, id: TerminalId, waiting: Waiting) {
  const { profile, cwd: directory, clientEnv } = resolved
  const { callerId } = request
  return prepareWorktree(context, { id, profileName: profile.name, callerId, directory, clientEnv }, waiting)
}

function insertRow(
  context: AppContext,
  { request, resolved, sessionName, sessionDir, onInserted }: LaunchOptions & { readonly sessionDir: string },
  id: TerminalId,
  plan: LaunchPlan,
): Terminal {
  const { store, clock, random, events } = context
  const createdAtMs = clock.nowMs()
  const { row, event, worktreeEvent } = store.transaction(() => {
    // Somebody's failed launch may have closed the session, empty as it was, a moment ago.
    insertSession(context, sessionName, sessionDir)
    const row = store.terminals.insert({
      id,
      sessionName,
      name: `${resolved.profile.name}-${random(4)}`,
      provider: resolved.provider.name,
      profileName: resolved.profile.name,
      callerId: request.callerId,
      allowedTools: resolved.allowedTools,
      teamTools: resolved.teamTools,
      workingDirectory: resolved.cwd,
      program: resolved.program,
      argv: plan.argv,
      binding: plan.binding,
      permissionMode: plan.permissionMode,
      limitsNotEnforced: plan.limitsNotEnforced,
      model: request.model,
      envNames: Object.keys(resolved.extraEnv),
      group: request.group,
      metadata: request.metadata,
      createdAtMs,
    })
    onInserted?.(id)
    const { provider, profileName, callerId } = row
    return {
      row,
      worktreeEvent: noteGiven(context, id),
      event: store.events.append(
        { type: 'terminal.created', terminalId: id, sessionName, provider, profileName, callerId },
        createdAtMs,
      ),
    }
  })
  events.announce(event)
  if (worktreeEvent !== undefined) events.announce(worktreeEvent)
  return row
}

/** From here on there may be work in it: it is no longer removed as one that is only planned. */
function noteGiven({ store, clock }: AppContext, id: TerminalId): DomainEvent | undefined {
  const worktree = store.worktrees.find(id)
  if (worktree === undefined) return undefined
  store.worktrees.setState(id, 'ready')
  const { path, branch } = worktree
  return store.events.append({ type: 'worktree.created', terminalId: id, path, branch }, clock.nowMs())
}

/** The undo of `insertRow`: the terminal never was. */
function forgetRow(context: AppContext, id: TerminalId): void {
  if (stepTerminal(context, id, 'delete', { reason: 'its launch failed' })) stepTerminal(context, id, 'finish')
}
