/**
 * What runs a command line on a tmux server, whichever way it gets there. The connection, the
 * link that keeps one open, and the short-lived fallback all are Runners, so that the typed
 * commands do not care.
 */
export type Reply = {
  /** False when tmux answered with %error; the text is then its message. */
  readonly ok: boolean
  readonly lines: readonly Uint8Array[]
}

export type ClosedReason = {
  /** `exited`: tmux said goodbye; `lost`: end of file without it; `overflow`: a reply over the limit; `closed`: by us. */
  readonly kind: 'exited' | 'lost' | 'overflow' | 'closed'
  readonly detail: string
}

export type Unavailable =
  | { readonly kind: 'timed-out'; readonly waitedMs: number; readonly what: string }
  | { readonly kind: 'closed'; readonly reason: ClosedReason }
  | { readonly kind: 'overloaded'; readonly pending: number }

export type RunOutcome = { readonly kind: 'replied'; readonly replies: readonly Reply[] } | Unavailable

export type RunOptions = {
  /**
   * How many replies the line produces: one for each command of a `;` sequence, fewer when one fails.
   * `unknown` where the number varies (if-shell): the line is then closed by a sentinel of ours.
   */
  readonly replies?: number | 'unknown'
  readonly timeoutMs?: number
}

export interface Runner {
  /** Runs one line, in order with all earlier ones. `line` is one non-empty line that begins with a command name. */
  run(line: string, options?: RunOptions): Promise<RunOutcome>
}

const utf8 = new TextDecoder('utf-8')

/** The lines of a reply as text, joined by newlines. */
export function replyText(reply: Reply | undefined): string {
  return reply === undefined ? '' : reply.lines.map((line) => utf8.decode(line)).join('\n')
}

/** The message of the first failed reply; undefined when all are ok. */
export function failureText(replies: readonly Reply[]): string | undefined {
  const failed = replies.find((reply) => !reply.ok)
  return failed === undefined ? undefined : replyText(failed)
}

export function describeUnavailable(outcome: Unavailable): string {
  switch (outcome.kind) {
    case 'timed-out':
      return `tmux did not answer within ${outcome.waitedMs} ms: ${outcome.what}`
    case 'closed':
      return `the connection to tmux is closed (${outcome.reason.kind}: ${outcome.reason.detail})`
    case 'overloaded':
      return `${outcome.pending} commands wait for tmux already`
  }
}
