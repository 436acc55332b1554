/**
 * Starts one new agent: row, directories, settings, pane, runtime. Each step registers its undo; what fails leaves
 * nothing behind. The row stands before the pane, so that even a crash in between is found.
 */
import type { Waiting } from '../async/wait.ts'
import { makeTerminalId, type SessionName, type TerminalId } from '../domain/ids.ts'
import type { Terminal } from '../domain/terminal.ts'
import type { LaunchPlan } from '../providers/provider.ts'
import type { CreateTerminal } from './app.ts'
import { type AppContext, stepTerminal } from './context.ts'
import { planAgent, preparePlace } from './plan-agent.ts'
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
}

/** Returns the runtime of a started agent that is not yet known to be ready; disposing `undo` takes everything back. */
export async function launchTerminal(
  context: AppContext,
  options: LaunchOptions,
  waiting: Waiting,
): Promise<StartedAgent> {
  const { capabilities, layout, random } = context
  const { resolved, sessionName, request, listeners } = options
  const id = makeTerminalId(random)
  await using stack = new AsyncDisposableStack()
  stack.defer(async () => {
    capabilities.revoke(id)
    await removeTerminalDirs(terminalDirs(layout, id))
  })
  const place = await preparePlace(context, id, sessionName)
  const plan = await planAgent(context, place, { resolved, model: request.model, resume: undefined })
  stack.defer(() => forgetRow(context, id))
  const row = insertRow(context, options, id, plan)
  const started = await startAgent(context, { row, plan, place, resolved, listeners, undoStep: 'delete' }, waiting)
  stack.use(started.undo)
  return { runtime: started.runtime, undo: stack.move() }
}

function insertRow(
  context: AppContext,
  { request, resolved, sessionName }: LaunchOptions,
  id: TerminalId,
  plan: LaunchPlan,
): Terminal {
  const { store, clock, random, events } = context
  const createdAtMs = clock.nowMs()
  const { row, event } = store.transaction(() => {
    // Somebody's failed launch may have closed the session, empty as it was, a moment ago.
    insertSession(context, sessionName, resolved.cwd)
    const row = store.terminals.insert({
      id,
      sessionName,
      name: `${resolved.profile.name}-${random(4)}`,
      provider: resolved.provider.name,
      profileName: resolved.profile.name,
      callerId: request.callerId,
      allowedTools: resolved.allowedTools,
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
    const { provider, profileName, callerId } = row
    return {
      row,
      event: store.events.append(
        { type: 'terminal.created', terminalId: id, sessionName, provider, profileName, callerId },
        createdAtMs,
      ),
    }
  })
  events.announce(event)
  return row
}

/** The undo of `insertRow`: the terminal never was. */
function forgetRow(context: AppContext, id: TerminalId): void {
  if (stepTerminal(context, id, 'delete', { reason: 'its launch failed' })) stepTerminal(context, id, 'finish')
}
