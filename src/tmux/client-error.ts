/**
 * What a tmux client says when it can not reach or use a server. The wordings differ between
 * versions and between the ways a server can be missing; this is the one place that knows them.
 */
export type ClientErrorKind =
  /** No server listens at the socket. */
  | 'no-server'
  /** A server listens and turns everybody away: on its way out, or wedged. */
  | 'refusing'
  /** The server answers, and what was asked for does not exist. */
  | 'no-target'
  | 'other'

// Source: tmux client.c (client_main, client_exit_message) and cmd-find.c.
const wordings: readonly (readonly [RegExp, ClientErrorKind])[] = [
  [/^no server running on /m, 'no-server'],
  [/^error connecting to .*\((No such file or directory|Connection refused)\)/m, 'no-server'],
  [/^(lost server|server exited( unexpectedly)?)\b/m, 'refusing'],
  [/^(can't find (session|window|pane|client)\b|no such (session|window|pane)|no (current|sessions)\b)/m, 'no-target'],
]

/** Classifies what a client printed on stderr, or in an %error block. */
export function classifyClientError(text: string): ClientErrorKind {
  return wordings.find(([pattern]) => pattern.test(text))?.[1] ?? 'other'
}
