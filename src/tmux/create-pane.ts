/**
 * A new window with one pane, complete or not at all: created, sized, tagged, its output piped and
 * named in ONE line, so that the first byte is caught and no other caller can come between.
 *
 * The window is addressed by a unique name that it gets at birth and loses at the end of the line.
 * tmux says ok for a missing program, a missing directory or a pipe that ends at once, so the
 * caller looks again with `readPane` a little later.
 */
import { classifyClientError } from './client-error.ts'
import { makeNonce } from './nonce.ts'
import { killPane } from './panes.ts'
import { escapeFormat, escapeFormatAndTime, quote } from './quote.ts'
import { type Runner, replyText, type Unavailable } from './runner.ts'
import { assertSessionName, namedWindowTarget } from './target.ts'

export type CreateRequest = {
  readonly session: string
  /** True makes the session; it must not exist. False adds a window; it must exist. */
  readonly isFirst: boolean
  /** Shown to people; any text. */
  readonly windowName: string
  readonly argv: readonly string[]
  readonly cwd: string
  /** Added to the environment. With `isFirst` it stays with the session, so no secrets here. */
  readonly env: Readonly<Record<string, string>>
  readonly size: { readonly cols: number; readonly rows: number }
  /** User option and value that mark the pane as ours. */
  readonly tag: { readonly option: string; readonly value: string }
  /**
   * The server is ours: a global `window-size manual`, which ends tmux 3.3a to 3.6 at the next creation, is set back in
   * the same step, whoever set it. On a server of somebody else it is looked at before (`checkForeignServer`).
   */
  readonly isOwnServer: boolean
  /** Shell command that gets a copy of all output; it must keep reading. */
  readonly sink: string
  readonly timeoutMs?: number
}

export type CreateOutcome =
  | {
      readonly kind: 'created'
      readonly paneId: string
      readonly windowId: string
      readonly sessionId: string
      readonly panePid: number
    }
  | { readonly kind: 'session-exists' }
  | { readonly kind: 'session-missing' }
  /** Nothing of this call is left. */
  | { readonly kind: 'failed'; readonly detail: string }
  | Unavailable

const idsFormat = '#{pane_id} #{window_id} #{session_id} #{pane_pid}'

const resetWindowSize = 'set-option -g -w window-size latest'

/** The commands of a creation, the one that prints the ids first or, on our own server, second; `nonce` is the window's name until the last of them. */
export function createCommands(request: CreateRequest, nonce: string): readonly string[] {
  assertSessionName(request.session)
  const target = namedWindowTarget(request.session, nonce)
  const { cols, rows } = request.size
  const where = request.isFirst
    ? `new-session -d -P -F ${quote(idsFormat)} -s ${request.session} -n ${nonce} -x ${cols} -y ${rows}`
    : `new-window -d -P -F ${quote(idsFormat)} -t ${quote(`=${request.session}:`)} -n ${nonce}`
  const env = Object.entries(request.env).map(([name, value]) => ` -e ${quote(`${name}=${value}`)}`)
  const argv = request.argv.map(quote).join(' ')
  return [
    ...(request.isOwnServer ? [resetWindowSize] : []),
    `${where} -c ${quote(escapeFormat(request.cwd))}${env.join('')} -- ${argv}`,
    ...(request.isOwnServer ? [] : guestOptions(request, target)),
    // Also makes the window's size its own (window-size manual), so that a person's client can not shrink it.
    `resize-window -t ${target} -x ${cols} -y ${rows}`,
    `set-option -p -t ${target} ${quote(request.tag.option)} ${quote(request.tag.value)}`,
    `pipe-pane -O -t ${target} ${quote(escapeFormatAndTime(request.sink))}`,
    `rename-window -t ${target} -- ${quote(escapeFormat(request.windowName))}`,
  ]
}

/** On somebody else's server, whose global options are not touched: what our own pane, window and session need. */
function guestOptions({ isFirst, session }: CreateRequest, target: string): string[] {
  return [
    ...(isFirst ? [`set-option -t ${quote(`=${session}:`)} destroy-unattached off`] : []),
    `set-option -p -t ${target} remain-on-exit on`,
    `set-option -w -t ${target} automatic-rename off`,
    `set-option -w -t ${target} allow-rename off`,
  ]
}

/** Creates the pane. What fails half-way is undone; after `timed-out` the caller finds what came of it by the tag. */
export async function createPane(runner: Runner, request: CreateRequest): Promise<CreateOutcome> {
  const commands = createCommands(request, makeNonce())
  const timeout = request.timeoutMs === undefined ? {} : { timeoutMs: request.timeoutMs }
  const outcome = await runner.run(commands.join(' ; '), { replies: commands.length, ...timeout })
  if (outcome.kind !== 'replied') return outcome
  const first = outcome.replies[request.isOwnServer ? 1 : 0] ?? outcome.replies.at(-1)
  const text = replyText(first)
  if (first?.ok !== true) return judgeRefusal(text)
  const match = /^(%\d+) (@\d+) (\$\d+) (\d+)$/.exec(text)
  if (match === null) return { kind: 'failed', detail: `tmux printed no ids: ${text.slice(0, 200)}` }
  const [, paneId = '', windowId = '', sessionId = '', panePid = ''] = match
  const failed = outcome.replies.find((reply) => !reply.ok)
  if (failed === undefined) return { kind: 'created', paneId, windowId, sessionId, panePid: Number(panePid) }
  await killPane(runner, paneId)
  return { kind: 'failed', detail: replyText(failed) }
}

function judgeRefusal(text: string): CreateOutcome {
  if (text.startsWith('duplicate session')) return { kind: 'session-exists' }
  if (classifyClientError(text) === 'no-target') return { kind: 'session-missing' }
  return { kind: 'failed', detail: text }
}
