/**
 * Small commands on existing panes, windows and sessions, each judged by what tmux printed.
 */
import { classifyClientError } from './client-error.ts'
import { instanceOption } from './liveness.ts'
import { type PaneFacts, paneFormat, parsePane } from './pane-fields.ts'
import { escapeFormat, escapeFormatAndTime, quote } from './quote.ts'
import { failureText, type Runner, replyText, type Unavailable } from './runner.ts'
import { paneTarget, sessionTarget, windowTarget } from './target.ts'

export type CommandOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly detail: string }
  | Unavailable

type Printed =
  | { readonly kind: 'printed'; readonly lines: readonly Uint8Array[] }
  | Exclude<CommandOutcome, { kind: 'done' }>

async function runPrinting(runner: Runner, line: string): Promise<Printed> {
  const outcome = await runner.run(line)
  if (outcome.kind !== 'replied') return outcome
  const failure = failureText(outcome.replies)
  if (failure === undefined) return { kind: 'printed', lines: outcome.replies[0]?.lines ?? [] }
  return classifyClientError(failure) === 'no-target' ? { kind: 'gone' } : { kind: 'failed', detail: failure }
}

async function runSilent(runner: Runner, line: string): Promise<CommandOutcome> {
  const outcome = await runPrinting(runner, line)
  return outcome.kind === 'printed' ? { kind: 'done' } : outcome
}

export type ListOutcome =
  | {
      readonly kind: 'listed'
      readonly panes: readonly PaneFacts[]
      /** Which server life answered: a missing pane means something only there. */
      readonly instance: string
    }
  | { readonly kind: 'failed'; readonly detail: string }
  | Unavailable

/** All panes of the server with their facts and tags. One unreadable line fails the whole: a list with holes would look like deaths. */
export async function listPanes(runner: Runner, tagOption: string, timeoutMs?: number): Promise<ListOutcome> {
  const line = `display-message -p '#{${instanceOption}}' ; list-panes -a -F ${quote(paneFormat(tagOption))}`
  const outcome = await runner.run(line, { replies: 2, ...(timeoutMs === undefined ? {} : { timeoutMs }) })
  if (outcome.kind !== 'replied') return outcome
  const failure = failureText(outcome.replies)
  if (failure !== undefined) return { kind: 'failed', detail: failure }
  const [instance, list] = outcome.replies
  const panes = list?.lines.map(parsePane) ?? []
  const whole = panes.filter((pane) => pane !== undefined)
  return whole.length === panes.length
    ? { kind: 'listed', panes: whole, instance: replyText(instance) }
    : { kind: 'failed', detail: 'a line of list-panes can not be read' }
}

export type PaneOutcome =
  | { readonly kind: 'found'; readonly facts: PaneFacts }
  | Exclude<CommandOutcome, { readonly kind: 'done' }>

/** Facts of one pane. display-message succeeds with empty fields on a missing pane, so the printed id decides. */
export async function readPane(runner: Runner, paneId: string, tagOption: string): Promise<PaneOutcome> {
  const target = paneTarget(paneId)
  const outcome = await runPrinting(runner, `display-message -p -t ${target} ${quote(paneFormat(tagOption))}`)
  if (outcome.kind !== 'printed') return outcome
  const facts = parsePane(outcome.lines[0] ?? new Uint8Array())
  return facts?.paneId === paneId ? { kind: 'found', facts } : { kind: 'gone' }
}

export type ClientsOutcome =
  | { readonly kind: 'listed'; readonly clients: readonly { readonly name: string; readonly activeAtMs: number }[] }
  | Exclude<CommandOutcome, { readonly kind: 'done' }>

/** Clients of people, no control clients, that look at the session of a pane. Source: tmux(1), client_activity. */
export async function listClients(runner: Runner, paneId: string): Promise<ClientsOutcome> {
  const format = '#{client_control_mode} #{client_activity} #{client_name}'
  const outcome = await runPrinting(runner, `list-clients -t ${paneTarget(paneId)} -F ${quote(format)}`)
  if (outcome.kind !== 'printed') return outcome
  const clients = outcome.lines.flatMap((line) => {
    const [, atS, name] = /^0 (\d+) (.+)$/.exec(new TextDecoder().decode(line)) ?? []
    return name === undefined ? [] : [{ name, activeAtMs: Number(atS) * 1_000 }]
  })
  return { kind: 'listed', clients }
}

/**
 * To stand before each removal of a pane. When the current window of a session goes and the last
 * one follows within the same turn of the server, tmux 3.3a tells its control clients about a
 * session that has no window any more and dies. This command does nothing but end the turn.
 * Source: control-notify.c (control_notify_session_window_changed), file.c (file_read).
 */
export const endTurnCommand = 'load-buffer -b cao-nothing /dev/null'

/** Ends the pane: its processes get HUP. The window goes with its last pane, the session with its last window. */
export async function killPane(runner: Runner, paneId: string): Promise<CommandOutcome> {
  const outcome = await runner.run(`${endTurnCommand} ; kill-pane -t ${paneTarget(paneId)}`, { replies: 2 })
  if (outcome.kind !== 'replied') return outcome
  const failure = failureText(outcome.replies)
  if (failure === undefined) return { kind: 'done' }
  return classifyClientError(failure) === 'no-target' ? { kind: 'gone' } : { kind: 'failed', detail: failure }
}

/**
 * Arms, or with '' ends, the command that gets a copy of the pane's output. Replacing one that
 * works loses output; on a dead pane it fails.
 */
export async function pipePane(runner: Runner, paneId: string, shellCommand: string): Promise<CommandOutcome> {
  const target = paneTarget(paneId)
  if (shellCommand === '') return runSilent(runner, `pipe-pane -t ${target}`)
  return runSilent(runner, `pipe-pane -O -t ${target} ${quote(escapeFormatAndTime(shellCommand))}`)
}

/** Names a window; any text, taken literally. */
export async function renameWindow(runner: Runner, windowId: string, name: string): Promise<CommandOutcome> {
  return runSilent(runner, `rename-window -t ${windowTarget(windowId)} -- ${quote(escapeFormat(name))}`)
}

/** Sets a user option (@name) of a pane; it stays over rename, move, break, join and death. */
export async function setPaneOption(
  runner: Runner,
  paneId: string,
  name: string,
  value: string,
): Promise<CommandOutcome> {
  return runSilent(runner, `set-option -p -t ${paneTarget(paneId)} ${quote(name)} ${quote(value)}`)
}

export type OptionOutcome =
  | { readonly kind: 'value'; readonly value: string }
  | Exclude<CommandOutcome, { readonly kind: 'done' }>

/** The value of a user option set on the pane itself; empty when there is none. */
export async function readPaneOption(runner: Runner, paneId: string, name: string): Promise<OptionOutcome> {
  const outcome = await runPrinting(runner, `show-options -pqv -t ${paneTarget(paneId)} ${quote(name)}`)
  return outcome.kind === 'printed' ? { kind: 'value', value: replyText({ ok: true, lines: outcome.lines }) } : outcome
}

/** `done` when the session of exactly that name exists, `gone` when not. */
export async function hasSession(runner: Runner, name: string): Promise<CommandOutcome> {
  return runSilent(runner, `has-session -t ${sessionTarget(name)}`)
}

export type SessionsOutcome =
  | { readonly kind: 'listed'; readonly sessions: readonly { readonly id: string; readonly name: string }[] }
  | { readonly kind: 'failed'; readonly detail: string }
  | Unavailable

/** All sessions, the keeper included. */
export async function listSessions(runner: Runner): Promise<SessionsOutcome> {
  const outcome = await runPrinting(runner, `list-sessions -F '#{session_id}:#{session_name}'`)
  if (outcome.kind === 'gone') return { kind: 'listed', sessions: [] }
  if (outcome.kind !== 'printed') return outcome
  const sessions = outcome.lines.map((line) => {
    const [id = '', name = ''] = replyText({ ok: true, lines: [line] }).split(':')
    return { id, name }
  })
  return { kind: 'listed', sessions }
}
