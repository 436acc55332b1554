/**
 * The ways a terminal ends: its agent exits, its backend dies, a person deletes it. Each keeps what is worth
 * keeping (exit code, last screen, queue) before it removes anything, and each may come twice.
 */
import { writeFile } from 'node:fs/promises'
import { deadlineSignal, type Waiting } from '../async/wait.ts'
import type { TerminalId } from '../domain/ids.ts'
import type { Exit, Terminal } from '../domain/terminal.ts'
import { type AppContext, requireTerminal, stepTerminal } from './context.ts'
import { closeQuestions, lapseTyping, lastLinesOf, tellOfCutTurn } from './cut-turn.ts'
import { expired } from './open-question.ts'
import { releaseAfter } from './release-worktree.ts'
import type { Runtime } from './runtime.ts'
import { removeTerminalDirs, terminalDirs } from './terminal-dirs.ts'

const lastScreenLines = 2_000
const lastScreenLimitMs = 5_000
/** Between asking an agent to end and ending it surely. */
const graceMs = 2_000
const destroyLimitMs = 20_000

/** The agent's program has ended: what it left is kept, then the pane goes (a dead pane is a danger below tmux 3.4). */
export async function noteExit(
  context: AppContext,
  runtime: Runtime,
  exit: Exit,
  onEnded: (lastLines: readonly string[]) => void,
): Promise<void> {
  const { row } = runtime
  // While it is being deleted its end is no news.
  if (context.store.terminals.find(row.id)?.life !== 'live') return
  await saveLastScreen(context, runtime)
  const cut = await runtime.settleLastTurn()
  await saveLastAnswer(context, runtime)
  runtime.watch.addEvidence('process', { kind: 'exited', code: exit.code, signal: exit.signal }, 'exit file')
  runtime.question.close(expired)
  const how = describeExit(exit)
  if (!stepTerminal(context, row.id, 'exit', { exit, reason: how })) return
  closeQuestions(context, row.id)
  lapseTyping(context, row.id, `the agent ended (${how})`)
  tellOfCutTurn(context, cut, `the agent ended (${how})`)
  onEnded(lastLinesOf(runtime))
  await closeRuntime(context, row.id, { destroy: true })
}

function describeExit(exit: Exit): string {
  return exit.signal ?? (exit.code === undefined ? 'ended unseen' : `exit code ${exit.code}`)
}

/** The backend's server died with everything on it. Queues are kept. */
export async function noteLost(context: AppContext, terminal: Terminal, reason: string): Promise<void> {
  const runtime = context.runtimes.get(terminal.id)
  const cut = (await runtime?.settleLastTurn()) ?? []
  runtime?.watch.addEvidence('process', { kind: 'lost', why: reason }, 'backend')
  runtime?.question.close(expired)
  if (stepTerminal(context, terminal.id, 'lose', { reason })) {
    closeQuestions(context, terminal.id)
    lapseTyping(context, terminal.id, `the agent was lost (${reason})`)
    tellOfCutTurn(context, cut, `the agent was lost (${reason})`)
  }
  // What ignores the end of its terminal would work on beside the one that takes its conversation up.
  await closeRuntime(context, terminal.id, { destroy: true })
}

async function closeRuntime(
  context: AppContext,
  id: TerminalId,
  options: { readonly destroy: boolean },
): Promise<void> {
  const runtime = context.runtimes.get(id)
  if (runtime === undefined) return
  context.runtimes.delete(id)
  const closing = close(context, runtime, options)
  const ending = closing.then(
    () => undefined,
    () => undefined,
  )
  context.endings.set(id, ending)
  try {
    await closing
  } finally {
    if (context.endings.get(id) === ending) context.endings.delete(id)
  }
}

async function close(context: AppContext, runtime: Runtime, options: { readonly destroy: boolean }): Promise<void> {
  if (options.destroy) await destroyPane(context, runtime)
  await runtime[Symbol.asyncDispose]()
}

async function destroyPane(context: AppContext, runtime: Runtime): Promise<void> {
  using limit = deadlineSignal(context.clock, destroyLimitMs, `the pane of ${runtime.row.id} to end`)
  try {
    await runtime.pane.destroy({ graceMs }, limit)
  } catch (error) {
    context.log.write('warn', 'pane not removed', { terminalId: runtime.row.id, error: String(error) })
  }
}

/** So that it can be read after the end, whatever the agent's own records become. */
async function saveLastAnswer(context: AppContext, runtime: Runtime): Promise<void> {
  using limit = deadlineSignal(context.clock, lastScreenLimitMs, `the last answer of ${runtime.row.id}`)
  const answer = await runtime.loadAnswer(limit.signal, 'newest')
  if (answer.kind !== 'exact') return
  const { lastAnswerFile } = terminalDirs(context.layout, runtime.row.id)
  await writeFile(lastAnswerFile, answer.text, { mode: 0o600 }).catch((error: unknown) =>
    context.log.write('warn', 'last answer not kept', { terminalId: runtime.row.id, error: String(error) }),
  )
}

async function saveLastScreen(context: AppContext, runtime: Runtime): Promise<void> {
  using limit = deadlineSignal(context.clock, lastScreenLimitMs, `the last screen of ${runtime.row.id}`)
  try {
    const outcome = await runtime.pane.capture({ historyLines: lastScreenLines }, limit)
    if (outcome.kind === 'gone') return
    const { lastScreenFile } = terminalDirs(context.layout, runtime.row.id)
    await writeFile(lastScreenFile, `${outcome.snapshot.lines.join('\n')}\n`, { mode: 0o600 })
  } catch (error) {
    context.log.write('warn', 'last screen not kept', { terminalId: runtime.row.id, error: String(error) })
  }
}

/** Ends exactly this terminal. Calls for one that is being deleted wait for the same end. Errors: NOT_FOUND. */
export class Deleter {
  readonly #context: AppContext
  readonly #onDeleted: (terminal: Terminal) => void
  readonly #running = new Map<TerminalId, Promise<void>>()

  constructor(context: AppContext, onDeleted: (terminal: Terminal) => void) {
    this.#context = context
    this.#onDeleted = onDeleted
  }

  async delete(id: TerminalId, waiting: Waiting): Promise<void> {
    const running = this.#running.get(id)
    if (running !== undefined) return running
    const terminal = requireTerminal(this.#context, id)
    const work = this.#delete(terminal, waiting).finally(() => this.#running.delete(id))
    this.#running.set(id, work)
    return work
  }

  async #delete(terminal: Terminal, waiting: Waiting): Promise<void> {
    const context = this.#context
    const { store, ladder, capabilities, layout } = context
    const { id } = terminal
    stepTerminal(context, id, 'delete')
    const runtime = context.runtimes.get(id)
    if (runtime !== undefined) {
      await saveLastScreen(context, runtime)
      runtime.question.close(expired)
      await closeRuntime(context, id, { destroy: true })
    } else if (terminal.pane !== undefined && terminal.life !== 'lost') {
      await this.#destroyUnwatched(terminal, waiting)
    }
    capabilities.revoke(id)
    closeQuestions(context, id)
    for (const message of store.messages.list(id, { limit: 10_000, states: ['queued', 'leased'] })) {
      ladder.step(message.id, 'give_up', `terminal ${id} was deleted`)
    }
    for (const message of store.messages.list(id, { limit: 10_000, states: ['typing', 'typed'] })) {
      ladder.step(message.id, 'lapse', `terminal ${id} was deleted while it was typed`)
    }
    await releaseAfter(context, terminal)
    // The row outlives its files: a crash in between is found by it.
    await removeTerminalDirs(terminalDirs(layout, id))
    stepTerminal(context, id, 'finish')
    this.#onDeleted(terminal)
  }

  /** A pane that no runtime follows (its recovery failed, or a deletion was cut short by a restart). */
  async #destroyUnwatched(terminal: Terminal, waiting: Waiting): Promise<void> {
    if (terminal.pane === undefined) return
    await using pane = this.#context.backend.attach(terminal.id, terminal.pane)
    if ((await pane.presence(waiting)) !== 'absent') await pane.destroy({ graceMs }, waiting)
  }
}
