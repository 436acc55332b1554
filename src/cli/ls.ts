/** `cao ls`: the agents in a table, once or as it changes. */
import { SignalLatch } from '../async/signal-latch.ts'
import { sleep } from '../async/wait.ts'
import type { Client } from '../client/client.ts'
import { AppError } from '../domain/errors.ts'
import type { TerminalBody } from '../protocol/terminal.ts'
import type { CliContext, Command } from './command.ts'
import { flagOption, takePositionals } from './parse-call.ts'
import { printJson, printLine } from './print.ts'
import { formatTerminals } from './terminal-rows.ts'

/** Ages in the table grow even when nothing happens. Units: ms. */
const refreshMs = 1_000
/** A burst of events makes one picture. Units: ms. */
const settleMs = 80

export const lsCommand: Command = {
  usage: `cao ls [--watch] [--json]

  --watch  go on showing the table as it changes (Ctrl-C ends it)
  --json   all fields of every agent; with --watch one line each time something changes`,
  options: { watch: { type: 'boolean' } },
  async run({ options, positionals, context }) {
    takePositionals(positionals, [])
    const client = await context.openClient()
    const isJson = flagOption(options, 'json')
    if (flagOption(options, 'watch')) return watch(client, context, isJson)
    const terminals = await client.listTerminals(undefined, { signal: context.signal })
    if (isJson) {
      await printJson(context, terminals)
      return 0
    }
    await printLine(context, formatTerminals(terminals, context.clock.nowMs()))
    const worktrees = await client.listWorktrees({ look: false }, { signal: context.signal })
    const kept = worktrees.filter(({ used_by }) => used_by.length === 0).length
    if (kept > 0) context.note(`worktrees of ended agents that were kept: ${kept}; "cao worktree list" shows them`)
    return 0
  },
}

async function watch(client: Client, context: CliContext, isJson: boolean): Promise<number> {
  const stop = new AbortController()
  const signal = AbortSignal.any([context.signal, stop.signal])
  const changed = new SignalLatch()
  const following = raiseAtEvents(client, changed, signal)
  const drawing = redraw(client, { context, isJson, changed, signal })
  try {
    await Promise.race([following, drawing])
  } finally {
    stop.abort()
    await Promise.allSettled([following, drawing])
  }
  return 0
}

async function raiseAtEvents(client: Client, changed: SignalLatch, signal: AbortSignal): Promise<void> {
  for await (const _frame of client.streamEvents({ signal })) changed.raise()
}

type Watching = {
  readonly context: CliContext
  readonly isJson: boolean
  readonly changed: SignalLatch
  readonly signal: AbortSignal
}

async function redraw(client: Client, { context, isJson, changed, signal }: Watching): Promise<void> {
  const picture = isJson ? jsonLines(context) : context.isTerminal.stdout ? screen(context) : tables(context)
  while (!signal.aborted) {
    await picture(await listUnlessAway(client, signal))
    await changed.wait(context.clock, refreshMs, signal)
    if (!signal.aborted) await sleep(context.clock, settleMs, signal).catch(() => undefined)
  }
}

/** Undefined while the server is away: it may be restarting, and the person is still watching. */
async function listUnlessAway(client: Client, signal: AbortSignal): Promise<readonly TerminalBody[] | undefined> {
  try {
    return await client.listTerminals(undefined, { signal })
  } catch (error) {
    if (signal.aborted || (error instanceof AppError && error.row.retryable)) return undefined
    throw error
  }
}

type Picture = (terminals: readonly TerminalBody[] | undefined) => Promise<void>

function jsonLines(context: CliContext): Picture {
  let shown = ''
  return async (terminals) => {
    const text = JSON.stringify(terminals)
    if (terminals === undefined || text === shown) return
    shown = text
    await printLine(context, text)
  }
}

function tables(context: CliContext): Picture {
  let shown = ''
  return async (terminals) => {
    if (terminals === undefined) return
    // Without the ages, which change every second.
    const facts = JSON.stringify(terminals.map((row) => [row.id, row.status, row.status_reason, row.queue_length]))
    if (facts === shown) return
    shown = facts
    await printLine(context, formatTerminals(terminals, context.clock.nowMs()))
  }
}

function screen(context: CliContext): Picture {
  let table = ''
  let isFirst = true
  return async (terminals) => {
    if (terminals !== undefined) table = formatTerminals(terminals, context.clock.nowMs(), context.columns)
    const note = terminals === undefined ? '\n\nthe server does not answer; waiting for it …' : ''
    // Home, draw, clear what an earlier picture left: nothing flickers.
    const lines = (table + note).split('\n').map((line) => `${line}\u001b[K`)
    await context.out(`${isFirst ? '\u001b[2J' : ''}\u001b[H${lines.join('\n')}\n\u001b[J`)
    isFirst = false
  }
}
