/**
 * One look at a pane: its facts and its screen, in one line so that both belong together.
 *
 * The text goes through a paste buffer on every version: `capture-pane -p` over a control
 * connection leaks it inside the server below tmux 3.6, and the detour costs 0.03 ms.
 */

import { classifyClientError } from './client-error.ts'
import { makeNonce } from './nonce.ts'
import { type PaneFacts, paneFormat, parsePane } from './pane-fields.ts'
import { quote } from './quote.ts'
import { failureText, type Runner, type Unavailable } from './runner.ts'
import { type BufferEncoding, decodeShownBuffer } from './show-buffer.ts'
import { paneTarget } from './target.ts'

/** A runner that knows how its server prints buffers. */
export interface CaptureRunner extends Runner {
  readonly bufferEncoding: BufferEncoding
}

export type CaptureRequest = {
  readonly paneId: string
  readonly tagOption: string
  /** Lines above the viewport that are wanted too. */
  readonly historyLines?: number
  /** Keep colours and attributes as SGR sequences; costs the server several times as much. */
  readonly isStyled?: boolean
  readonly timeoutMs?: number
}

export type CaptureOutcome =
  | { readonly kind: 'captured'; readonly facts: PaneFacts; readonly lines: readonly Uint8Array[] }
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly detail: string }
  | Unavailable

/** Facts and visible lines, wrapped lines joined, trailing blanks as tmux gives them. */
export async function capturePane(runner: CaptureRunner, request: CaptureRequest): Promise<CaptureOutcome> {
  const target = paneTarget(request.paneId)
  const buffer = `cao-${makeNonce()}`
  const history = request.historyLines === undefined ? '' : ` -S -${Math.max(0, Math.trunc(request.historyLines))}`
  const line = [
    `display-message -p -t ${target} ${quote(paneFormat(request.tagOption))}`,
    `capture-pane -b ${buffer} -J${request.isStyled === true ? ' -e' : ''}${history} -t ${target}`,
    `show-buffer -b ${buffer}`,
    `delete-buffer -b ${buffer}`,
  ].join(' ; ')
  const outcome = await runner.run(line, { replies: 4, ...timeoutOf(request) })
  if (outcome.kind !== 'replied') return outcome
  const failure = failureText(outcome.replies)
  if (failure !== undefined) {
    return classifyClientError(failure) === 'no-target' ? { kind: 'gone' } : { kind: 'failed', detail: failure }
  }
  const facts = parsePane(outcome.replies[0]?.lines[0] ?? new Uint8Array())
  if (facts === undefined) return { kind: 'failed', detail: 'the facts of the pane can not be read' }
  return { kind: 'captured', facts, lines: decodeShownBuffer(outcome.replies[2]?.lines ?? [], runner.bufferEncoding) }
}

function timeoutOf(request: { readonly timeoutMs?: number }): { timeoutMs?: number } {
  return request.timeoutMs === undefined ? {} : { timeoutMs: request.timeoutMs }
}
