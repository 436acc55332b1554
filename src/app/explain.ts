/** Why CAO says what it says about a terminal: evidence, screen rule, composer, queue, questions, facts. */
import type { Waiting } from '../async/wait.ts'
import { openDeliveryStates } from '../domain/delivery.ts'
import type { TerminalId } from '../domain/ids.ts'
import { bottomLines } from '../screen/snapshot.ts'
import type { Explanation, TerminalView } from './app.ts'
import type { AppContext } from './context.ts'

const screenLines = 15
const messagesMax = 50

export async function explain(context: AppContext, view: TerminalView, waiting: Waiting): Promise<Explanation> {
  const id: TerminalId = view.terminal.id
  const { store } = context
  const runtime = context.runtimes.get(id)
  const seen = runtime === undefined ? undefined : await runtime.watch.look(waiting)
  const isSeen = seen !== undefined && seen !== 'gone'
  const pid = await runtime?.pane.agentPid()
  return {
    view,
    trail: runtime?.state.trail ?? [],
    screen: isSeen
      ? {
          lines: bottomLines(seen.snapshot, screenLines),
          rule: seen.reading.rule,
          composer: seen.reading.composer.kind,
        }
      : undefined,
    openMessages: store.messages.list(id, {
      limit: messagesMax,
      states: [...openDeliveryStates, 'unconfirmed', 'confirmed', 'turn_started'],
    }),
    openQuestions: store.questions.listOpen(id),
    facts: {
      provider: view.terminal.provider,
      program: view.terminal.program,
      directory: view.terminal.workingDirectory,
      pane:
        view.terminal.pane === undefined ? 'none' : `${view.terminal.pane.paneId} on ${view.terminal.pane.instanceId}`,
      agentPid: pid === undefined ? 'unknown' : String(pid),
      paneMode: isSeen ? (seen.snapshot.mode ?? 'none') : 'unknown',
      bracketedPaste: runtime === undefined ? 'unknown' : runtime.watch.isBracketed ? 'on' : 'off',
      hold: runtime?.worker.holdWhy ?? 'none',
    },
  }
}
