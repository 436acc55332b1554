/**
 * Waits until a started agent takes input. Start-up dialogs that the provider knows and may answer are answered
 * once each; any other is the person's, and the terminal counts as started with that question open.
 */
import { SignalLatch } from '../async/signal-latch.ts'
import type { Waiting } from '../async/wait.ts'
import type { AppContext } from './context.ts'
import type { Runtime } from './runtime.ts'

export type ReadyOutcome = { readonly kind: 'ready' } | { readonly kind: 'failed'; readonly why: string }

export async function awaitReady(
  context: AppContext,
  runtime: Runtime,
  limitMs: number,
  waiting: Waiting,
): Promise<ReadyOutcome> {
  const { clock } = context
  const latch = new SignalLatch()
  using subscriptions = new DisposableStack()
  subscriptions.use(runtime.watch.onChanged(() => latch.raise()))
  subscriptions.use(runtime.watch.onSeen(() => latch.raise()))
  const answered = new Set<string>()
  const endMs = clock.monotonicMs() + limitMs
  for (;;) {
    const { status, reason, detail } = runtime.state
    if (reason === 'exited' || reason === 'lost') return { kind: 'failed', why: detail ?? reason }
    const dialog = runtime.watch.lastSeen?.reading.dialog
    const isAnswerable = dialog?.answer !== undefined && !answered.has(dialog.text)
    if (dialog?.answer !== undefined && isAnswerable) {
      answered.add(dialog.text)
      await runtime.press(dialog.answer, waiting)
    } else if (
      status === 'idle' ||
      status === 'completed' ||
      (status === 'waiting_user_answer' && dialog?.answer === undefined)
    ) {
      return { kind: 'ready' }
    }
    const leftMs = endMs - clock.monotonicMs()
    if (leftMs <= 0) return { kind: 'failed', why: `not ready within ${limitMs} ms (status ${status}, ${reason})` }
    await latch.wait(clock, Math.min(leftMs, 1_000), waiting.signal)
    waiting.signal.throwIfAborted()
  }
}
