/** Why CAO says what it says about a terminal: evidence, screen rule, composer, queue, questions, facts. */
import type { Waiting } from '../async/wait.ts'
import { openDeliveryStates } from '../domain/delivery.ts'
import type { TerminalId } from '../domain/ids.ts'
import { findLimitEnd } from '../domain/reset-time.ts'
import { evidenceSources } from '../domain/status.ts'
import { bottomLines } from '../screen/snapshot.ts'
import type { Seen } from '../status/terminal-watch.ts'
import type { ExplainedScreen, Explanation, SourceView, TerminalView } from './app.ts'
import type { AppContext } from './context.ts'
import type { Runtime } from './runtime.ts'

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
    sources: runtime === undefined ? [] : listSources(runtime),
    screen: runtime !== undefined && isSeen ? explainScreen(runtime, seen) : undefined,
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
      ...describeLimit(view),
      nextLook: describeNextLook(runtime?.watch.nextLookInMs),
    },
  }
}

function describeLimit({ status }: TerminalView): Readonly<Record<string, string>> {
  if (status.reason !== 'rate_limited') return {}
  const endMs = findLimitEnd(status)
  return { rateLimitEnds: endMs === undefined ? 'not told' : new Date(endMs).toISOString() }
}

function describeNextLook(inMs: number | undefined): string {
  return inMs === undefined ? 'when something is printed' : `in ${inMs} ms`
}

/** Best first; a source that announces nothing and has not spoken is not this provider's. */
function listSources({ state, provider }: Runtime): readonly SourceView[] {
  return evidenceSources.flatMap((source, at) => {
    const announces = provider.announces[source] ?? []
    const hasSpoken = state.heard.includes(source)
    if (announces.length === 0 && !hasSpoken) return []
    const holds = [
      ...(state.runningBy.includes(source) ? (['turn'] as const) : []),
      ...(state.askingBy.includes(source) ? (['question'] as const) : []),
    ]
    return [{ source, rank: at + 1, announces, hasSpoken, holds }]
  })
}

function explainScreen({ provider }: Runtime, { snapshot, reading }: Seen): ExplainedScreen {
  const match = provider.screen?.explain(snapshot).match
  const { composer } = reading
  return {
    lines: bottomLines(snapshot, screenLines),
    rule: reading.rule,
    region: match?.rule.region,
    regionText: match?.text,
    ruleOrigin: match?.rule.origin,
    says: match?.rule.says,
    composer: composer.kind,
    composerText: composer.kind === 'draft' ? composer.text : undefined,
  }
}
