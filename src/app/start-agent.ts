/** Puts a planned agent into a pane and begins to watch it. Undone as a whole when anything after the pane fails. */
import { deadlineSignal, type Waiting } from '../async/wait.ts'
import type { BackendTerminal, OpenOutcome, OpenPlan } from '../backend/backend.ts'
import { AppError } from '../domain/errors.ts'
import type { LifeStep, Terminal } from '../domain/terminal.ts'
import { bottomLines } from '../screen/snapshot.ts'
import { awaitReady } from './await-ready.ts'
import { type AppContext, stepTerminal } from './context.ts'
import { type PlannedAgent, writePlannedFiles } from './plan-agent.ts'
import type { ResolvedLaunch } from './resolve-launch.ts'
import { Runtime, type RuntimeListeners } from './runtime.ts'

/** For tmux to make the pane. */
const openLimitMs = 20_000
const destroyGraceMs = 1_000
const undoLimitMs = 15_000

export type StartAgent = PlannedAgent & {
  /** In life `planned`. */
  readonly row: Terminal
  readonly resolved: ResolvedLaunch
  readonly listeners: RuntimeListeners
  /** Life step that says in the row that it came to nothing. */
  readonly undoStep: Extract<LifeStep, 'delete' | 'lose'>
}

export type StartedAgent = { readonly runtime: Runtime; readonly undo: AsyncDisposableStack }

/** Returns the runtime of an agent that runs and is not yet known to be ready; disposing `undo` ends it again. */
export async function startAgent(context: AppContext, options: StartAgent, waiting: Waiting): Promise<StartedAgent> {
  const { store, clock, guard, runtimes } = context
  const { row, plan, place, resolved, undoStep } = options
  await using stack = new AsyncDisposableStack()
  await writePlannedFiles(plan)
  await guard.ensure()
  waiting.signal.throwIfAborted()
  // Not cut off by a client that leaves: what is half made could not be taken back. It is taken back when it is whole.
  using limit = deadlineSignal(clock, openLimitMs, `a pane for ${resolved.profile.name}`)
  const open = {
    terminalId: row.id,
    sessionName: row.sessionName,
    windowName: row.name,
    argv: plan.argv,
    cwd: resolved.cwd,
    env: { ...resolved.clientEnv, ...resolved.extraEnv, ...plan.env, ...place.identity },
    size: context.launchDefaults.size,
  }
  const outcome = await openOnLivingBackend(context, open, limit)
  if (outcome.kind === 'refused') {
    throw new AppError('LAUNCH_FAILED', `${resolved.provider.title} did not start: ${outcome.detail}`)
  }
  const { terminal: pane } = outcome
  stack.defer(() => takeBack(context, pane, undoStep))
  waiting.signal.throwIfAborted()
  stepTerminal(context, row.id, 'open', { pane: pane.pane })
  const opened = store.terminals.find(row.id) ?? row
  const runtime = new Runtime(context, opened, resolved.provider, { pane, listeners: options.listeners })
  runtimes.set(row.id, runtime)
  await runtime.start(false)
  return { runtime, undo: stack.move() }
}

/**
 * The backend may have died a moment ago, and nobody knows it yet: then it is started, and the pane is asked for once
 * more. What the first try may have left is ended before.
 */
async function openOnLivingBackend(context: AppContext, plan: OpenPlan, waiting: Waiting): Promise<OpenOutcome> {
  const { backend, guard, log } = context
  try {
    return await backend.open(plan, waiting)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'BACKEND_GONE') throw error
    log.write('warn', 'backend gone at a launch; looked for again', { terminalId: plan.terminalId, why: error.message })
    await guard.renew()
    const stray = (await backend.list(waiting)).find((each) => each.terminalId === plan.terminalId)
    if (stray !== undefined) {
      await using pane = backend.attach(plan.terminalId, stray.pane)
      await pane.destroy({ graceMs: 0 }, waiting)
    }
    return backend.open(plan, waiting)
  }
}

/** The undo of everything after the pane was made; its end is then no exit of the agent's own. */
async function takeBack(context: AppContext, pane: BackendTerminal, step: StartAgent['undoStep']): Promise<void> {
  stepTerminal(context, pane.id, step, { reason: 'its launch failed' })
  const runtime = context.runtimes.get(pane.id)
  context.runtimes.delete(pane.id)
  using limit = deadlineSignal(context.clock, undoLimitMs, `the pane of ${pane.id} to end`)
  await pane.destroy({ graceMs: destroyGraceMs }, limit)
  await (runtime ?? pane)[Symbol.asyncDispose]()
}

/** Waits until the agent takes input (or asks its person). Errors: LAUNCH_FAILED with the last lines it showed. */
export async function requireReady(
  context: AppContext,
  runtime: Runtime,
  resolved: ResolvedLaunch,
  waiting: Waiting,
): Promise<void> {
  const limitMs =
    resolved.profile.startupLimitMs ?? context.launchDefaults.startupLimitMs ?? resolved.provider.quirks.startupLimitMs
  const outcome = await awaitReady(context, runtime, limitMs, waiting)
  if (outcome.kind === 'ready') return
  const seen = runtime.watch.lastSeen
  const lines = seen === undefined ? [] : bottomLines(seen.snapshot, 8)
  const shown = lines.length === 0 ? '' : `\nIt showed:\n${lines.join('\n')}`
  throw new AppError('LAUNCH_FAILED', `${resolved.provider.title} did not become ready: ${outcome.why}${shown}`)
}
