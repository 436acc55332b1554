/** Reading what an agent said: its exact last answer, its screen with history, or the bytes it printed. */
import { readFile } from 'node:fs/promises'
import { deadlineSignal, type Waiting } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import type { TerminalId } from '../domain/ids.ts'
import type { Terminal } from '../domain/terminal.ts'
import type { Output, ScreenCapture } from './app.ts'
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
  if (mode === 'last') return readLastAnswer(context, terminal, limit.signal)
  const isAll = mode === 'full'
  const kept = async () => ({
    text: await readKept(terminalDirs(context.layout, id).lastScreenFile),
    mode,
    source: 'last screen',
    isCurrent: true,
    isTruncated: isAll,
  })
  if (runtime === undefined) return kept()
  const outcome = await runtime.pane.capture(isAll ? { historyLines } : {}, limit)
  if (outcome.kind === 'gone') return kept()
  const { lines, isAlternate, historyRows = 0 } = outcome.snapshot
  // The alternate screen keeps nothing of what has scrolled off it.
  const isTruncated = isAll && (isAlternate || historyRows > historyLines)
  return { text: lines.join('\n').trimEnd(), mode, source: 'screen', isCurrent: true, isTruncated }
}

/** With colours and attributes. Errors: NOT_FOUND, CONFLICT when the agent has ended. */
export async function captureScreen(context: AppContext, id: TerminalId, waiting: Waiting): Promise<ScreenCapture> {
  const { provider, program, life } = requireTerminal(context, id)
  using limit = deadlineSignal(context.clock, readLimitMs, `the screen of ${id}`, waiting.signal)
  const outcome = await context.runtimes.get(id)?.pane.capture({ styled: true }, limit)
  if (outcome?.kind !== 'captured') throw new AppError('CONFLICT', `terminal ${id} shows no screen (${life})`)
  return { provider, program, snapshot: outcome.snapshot }
}

/** Of an ended agent, what was kept at its end. */
async function readLastAnswer(context: AppContext, terminal: Terminal, signal: AbortSignal): Promise<Output> {
  const { id, life } = terminal
  const mode = 'last'
  const runtime = context.runtimes.get(id)
  if (runtime === undefined) {
    const text = await readKept(terminalDirs(context.layout, id).lastAnswerFile)
    if (text !== '') return { text, mode, source: 'kept at its end', isCurrent: true, isTruncated: false }
    throw new AppError('CONFLICT', `terminal ${id} has ended (${life}) and left no answer; try mode full`)
  }
  const answer = await runtime.loadAnswer(signal)
  if (answer.kind !== 'exact')
    throw new AppError('CONFLICT', `no answer of ${id} can be read: ${answer.why}; try mode full`)
  const { status } = runtime.state
  return {
    text: answer.text,
    mode,
    source: answer.source,
    isCurrent: status !== 'processing' && status !== 'waiting_user_answer',
    isTruncated: false,
  }
}

/** Empty when nothing was kept. */
async function readKept(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

/** Bytes of the output log, as printed; without a character at the end that goes on in the next slice. */
export async function readOutputRange(
  context: AppContext,
  id: TerminalId,
  offset: number,
  lengthMax: number,
): Promise<Uint8Array> {
  return endAtCharacter(await readLogRange(context, id, offset, lengthMax), lengthMax)
}

async function readLogRange(
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

/** A slice of fewer bytes than one character has is left as it is. Pure. Source: RFC 3629 section 3. */
export function endAtCharacter(bytes: Uint8Array, lengthMax: number): Uint8Array {
  const lead = bytes.findLastIndex((byte) => (byte & 0xc0) !== 0x80)
  const first = bytes[lead]
  if (first === undefined) return bytes
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1
  const isCut = lead + length > bytes.length && bytes.length - lead < 4
  return isCut && (lead > 0 || bytes.length < lengthMax) ? bytes.subarray(0, lead) : bytes
}
