/**
 * Waits until a started agent takes input. Start-up dialogs that the provider knows and may answer are answered;
 * any other is the person's, and the terminal counts as started with that question open.
 */
import { realpath, stat } from 'node:fs/promises'
import { SignalLatch } from '../async/signal-latch.ts'
import { sleep, type Waiting } from '../async/wait.ts'
import type { AppContext } from './context.ts'
import type { Runtime } from './runtime.ts'
import { terminalDirs } from './terminal-dirs.ts'

/** A dialog that still stands then is answered again, as it is shown now. */
const answerAgainMs = 1_500

export type ReadyOutcome = { readonly kind: 'ready' } | { readonly kind: 'failed'; readonly why: string }

export async function awaitReady(
  context: AppContext,
  runtime: Runtime,
  limitMs: number,
  waiting: Waiting,
): Promise<ReadyOutcome> {
  const { clock } = context
  const directory = await realpath(runtime.row.workingDirectory)
  const latch = new SignalLatch()
  using subscriptions = new DisposableStack()
  subscriptions.use(runtime.watch.onChanged(() => latch.raise()))
  subscriptions.use(runtime.watch.onSeen(() => latch.raise()))
  /** When each dialog was answered last: a program that has just drawn one may not listen yet. */
  const answeredAtMs = new Map<string, number>()
  const endMs = clock.monotonicMs() + limitMs
  for (;;) {
    const { status, reason, detail } = runtime.state
    if (reason === 'exited' || reason === 'lost') return { kind: 'failed', why: detail ?? reason }
    const reading = runtime.watch.lastSeen?.reading
    const dialog = reading?.dialog
    const isElsewhere = dialog?.directory !== undefined && dialog.directory !== directory
    const answer = isElsewhere ? undefined : dialog?.answer
    // Between our answer and the program's next picture nothing is asked any more.
    const isJustAnswered = answeredAtMs.size > 0 && reading?.claim?.kind !== 'waiting'
    const lastMs = answeredAtMs.get(dialog?.text ?? '') ?? Number.NEGATIVE_INFINITY
    if (dialog !== undefined && answer !== undefined && clock.monotonicMs() >= lastMs + answerAgainMs) {
      answeredAtMs.set(dialog.text, clock.monotonicMs())
      await runtime.press(answer, waiting)
    } else if (
      status === 'idle' ||
      status === 'completed' ||
      (status === 'waiting_user_answer' && answer === undefined && !isJustAnswered)
    ) {
      if (status !== 'waiting_user_answer') await awaitTools(context, runtime, waiting)
      return { kind: 'ready' }
    }
    const leftMs = endMs - clock.monotonicMs()
    if (leftMs <= 0) return { kind: 'failed', why: `not ready within ${limitMs} ms (status ${status}, ${reason})` }
    await latch.wait(clock, Math.min(leftMs, 1_000), waiting.signal)
    waiting.signal.throwIfAborted()
  }
}

/** Between two looks, and from the connection until the agent has asked which tools there are. */
const toolsLookMs = 100
const toolsSettleMs = 200

/** Waits until the agent's program has CAO's tools, as long as its provider says. Errors: none; it may come to them later. */
async function awaitTools(context: AppContext, runtime: Runtime, waiting: Waiting): Promise<void> {
  const { clock, log, layout } = context
  const { id } = runtime.row
  const { toolsLimitMs } = runtime.provider.quirks
  if (toolsLimitMs === undefined) return
  const endMs = clock.monotonicMs() + toolsLimitMs
  while (clock.monotonicMs() < endMs) {
    const connected = await stat(terminalDirs(layout, id).toolsFile).catch(() => undefined)
    if (connected !== undefined && clock.nowMs() >= connected.mtimeMs + toolsSettleMs) return
    await sleep(clock, toolsLookMs, waiting.signal)
    const { reason } = runtime.state
    if (reason === 'exited' || reason === 'lost') return
  }
  log.write('warn', "the agent has not connected to CAO's tools", { terminalId: id, toolsLimitMs })
}
