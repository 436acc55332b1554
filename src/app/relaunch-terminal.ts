/**
 * Takes a lost or exited agent up again: same terminal, same conversation by its vendor id, same directory and tools,
 * programs found anew, secrets by name. One relauncher at a time (the life table's step is the claim); what fails
 * leaves the terminal lost with the reason, its reference and its queue kept.
 */
import { stat } from 'node:fs/promises'
import type { Waiting } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import type { TerminalId } from '../domain/ids.ts'
import type { Terminal } from '../domain/terminal.ts'
import type { CreateTerminal, RecoverOutcome } from './app.ts'
import { type AppContext, requireTerminal, stepTerminal } from './context.ts'
import { planAgent, preparePlace } from './plan-agent.ts'
import { resolveLaunch } from './resolve-launch.ts'
import type { RuntimeListeners } from './runtime.ts'
import { closeIfEmpty, insertSession } from './sessions.ts'
import { requireReady, startAgent } from './start-agent.ts'

export type RelaunchOptions = {
  readonly id: TerminalId
  readonly listeners: RuntimeListeners
  /** Values for the variables that the terminal was first given; names that it did not have are refused. */
  readonly env: Readonly<Record<string, string>>
  readonly clientEnv: Readonly<Record<string, string>> | undefined
}

/** Resolves when the agent takes input again. Errors: NOT_FOUND, CONFLICT (it runs, or is being taken up), ENV_MISSING, and as a launch. */
export async function relaunchTerminal(context: AppContext, options: RelaunchOptions, waiting: Waiting): Promise<void> {
  const { store } = context
  const { id, listeners } = options
  const former = requireTerminal(context, id)
  if (former.life !== 'lost' && former.life !== 'exited') {
    throw new AppError('CONFLICT', `terminal ${id} is ${former.life}; only a lost or exited one can be recovered`)
  }
  await requireDirectory(context, former)
  const resolved = await resolveLaunch(context, toRequest(former, options))
  if (!stepTerminal(context, id, 'relaunch', { reason: 'taken up again' })) {
    throw new AppError('CONFLICT', `terminal ${id} is being taken up already`)
  }
  try {
    // What is ended of the former life is known by this terminal's mark, which the new one has, too.
    await context.endings.get(id)
    insertSession(context, former.sessionName, former.workingDirectory)
    const place = await preparePlace(context, id, former.sessionName)
    const resume = resolved.provider.capabilities.has('resume') ? former.binding : undefined
    const plan = await planAgent(context, place, { resolved, model: former.model, resume })
    store.terminals.setLaunch(id, plan)
    const row = requireTerminal(context, id)
    const started = await startAgent(context, { row, plan, place, resolved, listeners, undoStep: 'lose' }, waiting)
    await using undo = started.undo
    await requireReady(context, started.runtime, resolved, waiting)
    undo.move()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    stepTerminal(context, id, 'lose', { reason: `taking it up again failed: ${why}` })
    closeIfEmpty(context, former.sessionName)
    throw error
  }
}

/** A worktree that somebody removed has a branch, from which it can be made again. Errors: DIRECTORY_MISSING. */
async function requireDirectory({ store }: AppContext, { id, workingDirectory }: Terminal): Promise<void> {
  const worktree = store.worktrees.find(id)
  if (worktree === undefined || (await stat(workingDirectory).catch(() => undefined)) !== undefined) return
  const { path, branch, gitDir } = worktree
  const again = `git --git-dir=${gitDir} worktree add -f ${path} ${branch}`
  throw new AppError('DIRECTORY_MISSING', `the worktree of terminal ${id} was removed; \`${again}\` makes it again`)
}

function toRequest(former: Terminal, { env, clientEnv }: RelaunchOptions): CreateTerminal {
  const missing = former.envNames.filter((name) => env[name] === undefined)
  if (missing.length > 0) {
    const sentence = `terminal ${former.id} was started with ${missing.join(', ')}, whose value CAO does not keep; give it again with --env`
    throw new AppError('ENV_MISSING', sentence, { data: { names: missing } })
  }
  return {
    profileName: former.profileName,
    provider: former.provider,
    workingDirectory: former.workingDirectory,
    allowedTools: former.allowedTools ?? ['*'],
    env: Object.fromEntries(former.envNames.map((name) => [name, env[name] ?? ''])),
    ...(clientEnv === undefined ? {} : { clientEnv }),
  }
}

/** Agents that are taken up again at the same time: a machine that just came back has other things to do too. */
const relaunchesAtOnce = 4

/** Takes up every lost terminal (exited ones only when named), a few at a time; one that fails stops no other. */
export async function relaunchAll(
  context: AppContext,
  options: Omit<RelaunchOptions, 'id'>,
  waiting: Waiting,
): Promise<RecoverOutcome> {
  const recovered: TerminalId[] = []
  const errors: { readonly id: TerminalId; readonly error: string }[] = []
  const queue = context.store.terminals.list().filter((terminal) => terminal.life === 'lost')
  const work = async () => {
    for (let terminal = queue.shift(); terminal !== undefined; terminal = queue.shift()) {
      try {
        await relaunchTerminal(context, { ...options, id: terminal.id }, waiting)
        recovered.push(terminal.id)
      } catch (error) {
        errors.push({ id: terminal.id, error: error instanceof Error ? error.message : String(error) })
      }
    }
  }
  await Promise.all(Array.from({ length: relaunchesAtOnce }, work))
  return { recovered, errors }
}
