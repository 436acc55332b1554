/** `GET /doctor`: what the server finds about its backend and about what is left over. */
export type FindingBody = {
  readonly what: string
  readonly level: 'ok' | 'note' | 'fail'
  /** What was found, and what to do about it. */
  readonly detail: string
}
