/**
 * Starts one agent: row, directories, settings, pane, runtime, readiness. Each step registers its undo; what
 * fails leaves nothing behind. The row stands before the pane, so that even a crash in between is found.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { deadlineSignal, type Waiting } from '../async/wait.ts'
import type { BackendTerminal } from '../backend/backend.ts'
import { AppError } from '../domain/errors.ts'
import { makeTerminalId, type SessionName, type TerminalId } from '../domain/ids.ts'
import type { Terminal } from '../domain/terminal.ts'
import type { LaunchPlan } from '../providers/provider.ts'
import { bottomLines } from '../screen/snapshot.ts'
import type { CreateTerminal } from './app.ts'
import { awaitReady } from './await-ready.ts'
import { type AppContext, stepTerminal } from './context.ts'
import type { ResolvedLaunch } from './resolve-launch.ts'
import { Runtime, type RuntimeListeners } from './runtime.ts'
import { createTerminalDirs, removeTerminalDirs, type TerminalDirs, terminalDirs } from './terminal-dirs.ts'

/** Size of every pane; a person's smaller window does not change it. */
export const paneSize = { cols: 200, rows: 50 } as const
/** For tmux to make the pane. */
const openLimitMs = 20_000
const destroyGraceMs = 1_000
const undoLimitMs = 15_000

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
): Promise<{ readonly runtime: Runtime; readonly undo: AsyncDisposableStack }> {
  const { store, backend, capabilities, layout, random, clock, runtimes } = context
  const { resolved, sessionName } = options
  const id = makeTerminalId(random)
  const dirs = terminalDirs(layout, id)
  await using stack = new AsyncDisposableStack()

  stack.defer(() => removeTerminalDirs(dirs))
  await createTerminalDirs(dirs)
  stack.defer(() => capabilities.revoke(id))
  const capabilityFile = await capabilities.issue(dirs.dir, id, random)
  const identity = identityEnv(context, id, sessionName, capabilityFile)
  const plan = await planLaunch(context, options, { id, dirs, identity })

  stack.defer(() => forgetRow(context, id))
  const row = insertRow(context, options, id, plan)
  await writePlannedFiles(plan)

  using limit = deadlineSignal(clock, openLimitMs, `a pane for ${resolved.profile.name}`, waiting.signal)
  const outcome = await backend.open(
    {
      terminalId: id,
      sessionName,
      windowName: row.name,
      argv: plan.argv,
      cwd: resolved.cwd,
      env: { ...resolved.clientEnv, ...resolved.extraEnv, ...plan.env, ...identity },
      size: paneSize,
    },
    limit,
  )
  if (outcome.kind === 'refused')
    throw new AppError('LAUNCH_FAILED', `${resolved.provider.title} did not start: ${outcome.detail}`)
  const { terminal: pane } = outcome
  stack.defer(() => takeBack(context, pane))
  stepTerminal(context, id, 'open', { pane: pane.pane })

  const opened = store.terminals.find(id) ?? row
  const runtime = new Runtime(context, opened, resolved.provider, { pane, listeners: options.listeners })
  runtimes.set(id, runtime)
  await runtime.start(false)
  return { runtime, undo: stack.move() }
}

/** Waits until the agent takes input (or asks its person). Errors: LAUNCH_FAILED with the last lines it showed. */
export async function requireReady(
  context: AppContext,
  runtime: Runtime,
  resolved: ResolvedLaunch,
  waiting: Waiting,
): Promise<void> {
  const limitMs = resolved.profile.startupLimitMs ?? resolved.provider.quirks.startupLimitMs
  const outcome = await awaitReady(context, runtime, limitMs, waiting)
  if (outcome.kind === 'ready') return
  const seen = runtime.watch.lastSeen
  const lines = seen === undefined ? [] : bottomLines(seen.snapshot, 8)
  const shown = lines.length === 0 ? '' : `\nIt showed:\n${lines.join('\n')}`
  throw new AppError('LAUNCH_FAILED', `${resolved.provider.title} did not become ready: ${outcome.why}${shown}`)
}

function identityEnv(
  context: AppContext,
  id: TerminalId,
  sessionName: SessionName,
  capabilityFile: string,
): Record<string, string> {
  return {
    CAO_TERMINAL_ID: id,
    CAO_SESSION_NAME: sessionName,
    CAO_CAPABILITY_FILE: capabilityFile,
    CAO_SOCKET: context.socketPath,
    CAO_OUTBOX: context.layout.outboxDir,
  }
}

async function planLaunch(
  context: AppContext,
  { request, resolved }: LaunchOptions,
  place: { readonly id: TerminalId; readonly dirs: TerminalDirs; readonly identity: Record<string, string> },
): Promise<LaunchPlan> {
  const { provider, profile } = resolved
  return provider.planLaunch({
    terminalId: place.id,
    profile,
    systemPrompt: profile.systemPrompt.trim() === '' ? undefined : profile.systemPrompt,
    allowedTools: resolved.allowedTools,
    model: request.model ?? profile.model,
    program: resolved.program,
    cwd: resolved.cwd,
    privateDir: place.dirs.privateDir,
    spoolDir: place.dirs.spoolDir,
    hookArgv: [...context.shims.hookArgv, place.dirs.spoolDir],
    mcp: { argv: context.shims.mcpArgv, env: place.identity },
    clientEnv: resolved.clientEnv,
    port: provider.capabilities.has('needs-port') ? await findFreePort() : undefined,
    randomHex: context.random,
    resume: undefined,
  })
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

async function writePlannedFiles(plan: LaunchPlan): Promise<void> {
  for (const file of plan.files) {
    await mkdir(dirname(file.path), { recursive: true, mode: 0o700 })
    await writeFile(file.path, file.content, { mode: 0o600 })
  }
}

/** The undo of everything after the pane was made; its end is then no exit of the agent's own. */
async function takeBack(context: AppContext, pane: BackendTerminal): Promise<void> {
  stepTerminal(context, pane.id, 'delete', { reason: 'its launch failed' })
  const runtime = context.runtimes.get(pane.id)
  context.runtimes.delete(pane.id)
  using limit = deadlineSignal(context.clock, undoLimitMs, `the pane of ${pane.id} to end`)
  await pane.destroy({ graceMs: destroyGraceMs }, limit)
  await (runtime ?? pane)[Symbol.asyncDispose]()
}

/** The undo of `insertRow`: the terminal never was. */
function forgetRow(context: AppContext, id: TerminalId): void {
  if (stepTerminal(context, id, 'delete', { reason: 'its launch failed' })) stepTerminal(context, id, 'finish')
}

/** A port that was free a moment ago. The agent binds it soon after; a clash shows as a failed launch. */
function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => {
        if (address === null || typeof address === 'string')
          reject(new AppError('INTERNAL', 'no loopback port is free'))
        else resolve(address.port)
      })
    })
  })
}
