/** Reading what an agent said: its exact last answer, its screen with history, or the bytes it printed. */
import { readFile } from 'node:fs/promises'
import { deadlineSignal, type Waiting } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import type { TerminalId } from '../domain/ids.ts'
import type { Output } from './app.ts'
import { type AppContext, requireTerminal } from './context.ts'
import { terminalDirs } from './terminal-dirs.ts'

const historyLines = 2_000
const readLimitMs = 15_000

/** `last`: the exact answer; `screen`: the viewport; `full`: with history. An ended agent gives what was kept. */
export async function readOutput(
  context: AppContext,
  id: TerminalId,
  mode: Output['mode'],
  waiting: Waiting,
): Promise<Output> {
  const terminal = requireTerminal(context, id)
  const runtime = context.runtimes.get(id)
  using limit = deadlineSignal(context.clock, readLimitMs, `the output of ${id}`, waiting.signal)
  if (mode === 'last') {
    const answered = context.store.jobs.listForWorker(id).findLast((job) => job.result?.answer !== undefined)
    if (runtime === undefined) {
      if (answered?.result?.answer !== undefined)
        return { text: answered.result.answer, mode, source: answered.result.source ?? 'job' }
      throw new AppError(
        'CONFLICT',
        `terminal ${id} has ended (${terminal.life}) and its last answer was not kept; try mode full`,
      )
    }
    const answer = await runtime.loadAnswer(limit.signal)
    if (answer.kind === 'exact') return { text: answer.text, mode, source: answer.source }
    throw new AppError('CONFLICT', `no answer of ${id} can be read: ${answer.why}; try mode full`)
  }
  if (runtime === undefined) return { text: await readLastScreen(context, id), mode, source: 'last screen' }
  const outcome = await runtime.pane.capture(mode === 'full' ? { historyLines } : {}, limit)
  if (outcome.kind === 'gone') return { text: await readLastScreen(context, id), mode, source: 'last screen' }
  return { text: outcome.snapshot.lines.join('\n').trimEnd(), mode, source: 'screen' }
}

async function readLastScreen(context: AppContext, id: TerminalId): Promise<string> {
  try {
    return await readFile(terminalDirs(context.layout, id).lastScreenFile, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

/** Bytes of the output log, as printed. */
export async function readOutputRange(
  context: AppContext,
  id: TerminalId,
  offset: number,
  lengthMax: number,
): Promise<Uint8Array> {
  const terminal = requireTerminal(context, id)
  const runtime = context.runtimes.get(id)
  if (runtime !== undefined) return runtime.pane.readOutput(offset, lengthMax)
  if (terminal.pane === undefined) return new Uint8Array()
  await using pane = context.backend.attach(id, terminal.pane)
  return pane.readOutput(offset, lengthMax)
}
