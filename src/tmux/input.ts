/**
 * Input to a pane. The check that the pane can take it and the input itself are ONE command, for
 * a paste into a dead pane ends the whole server on tmux 3.2a and 3.3a, and nothing may come
 * between. Any pane mode is left first, since it would swallow keys.
 * "Done" means that tmux took it; no tmux can tell that the program read it.
 */
import { classifyClientError } from './client-error.ts'
import { isKeyName } from './key-names.ts'
import { makeNonce } from './nonce.ts'
import { quote } from './quote.ts'
import { failureText, type Runner, replyText, type Unavailable } from './runner.ts'
import { paneTarget } from './target.ts'

export type InputOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'dead' }
  /** Somebody switched off input to the pane (select-pane -d); it would be dropped. */
  | { readonly kind: 'input-off' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly detail: string }
  | Unavailable

/** One line that runs `commands` only when the pane lives and takes input, and prints what it found. */
export function guardedInputLine(
  paneId: string,
  commands: readonly string[],
  otherwise: readonly string[] = [],
): string {
  const target = paneTarget(paneId)
  const refuse = [...otherwise, `display-message -p -t ${target} '#{?pane_dead,dead,input-off}'`].join(' ; ')
  const act = [`copy-mode -q -t ${target}`, ...commands, 'display-message -p done'].join(' ; ')
  return `if-shell -F -t ${target} '#{||:#{pane_dead},#{pane_input_off}}' ${quote(refuse)} ${quote(act)}`
}

async function runGuarded(runner: Runner, line: string, timeoutMs: number | undefined): Promise<InputOutcome> {
  const outcome = await runner.run(line, { replies: 'unknown', ...(timeoutMs === undefined ? {} : { timeoutMs }) })
  if (outcome.kind !== 'replied') return outcome
  const failure = failureText(outcome.replies)
  if (failure !== undefined) {
    return classifyClientError(failure) === 'no-target' ? { kind: 'gone' } : { kind: 'failed', detail: failure }
  }
  const printed = outcome.replies.map(replyText).filter((text) => text !== '')
  const verdict = printed.at(-1)
  if (verdict === 'done' || verdict === 'dead' || verdict === 'input-off') return { kind: verdict }
  return { kind: 'failed', detail: `tmux did not say what it did: ${printed.join(' | ').slice(0, 200)}` }
}

export type PasteRequest = {
  readonly paneId: string
  /** Absolute path of a file that tmux can read; its bytes are pasted as they are. */
  readonly path: string
  /** Wrap in bracket marks where the program asked for them (DECSET 2004). */
  readonly isBracketed: boolean
  readonly timeoutMs?: number
}

/** Pastes the content of a file. Leaves no buffer behind, whatever happens. Newlines stay newlines. */
export async function pasteFile(runner: Runner, request: PasteRequest): Promise<InputOutcome> {
  const buffer = `cao-${makeNonce()}`
  const target = paneTarget(request.paneId)
  const paste = `paste-buffer ${request.isBracketed ? '-p ' : ''}-r -d -b ${buffer} -t ${target}`
  const line = guardedInputLine(request.paneId, [paste], [`delete-buffer -b ${buffer}`])
  const outcome = await runGuarded(
    runner,
    `load-buffer -b ${buffer} ${quote(request.path)} ; ${line}`,
    request.timeoutMs,
  )
  if (outcome.kind === 'gone' || outcome.kind === 'failed') await runner.run(`delete-buffer -b ${buffer}`)
  return outcome
}

export type Stroke = { readonly kind: 'key'; readonly name: string } | { readonly kind: 'text'; readonly text: string }

export type PressOutcome = InputOutcome | { readonly kind: 'unknown-key'; readonly name: string }

/** Presses keys and types texts in order, as one command. A name that tmux might type literally is refused before anything is sent. */
export async function pressKeys(
  runner: Runner,
  paneId: string,
  strokes: readonly Stroke[],
  timeoutMs?: number,
): Promise<PressOutcome> {
  const target = paneTarget(paneId)
  const commands: string[] = []
  for (const stroke of strokes) {
    if (stroke.kind === 'key') {
      if (!isKeyName(stroke.name)) return { kind: 'unknown-key', name: stroke.name }
      commands.push(`send-keys -t ${target} ${quote(stroke.name)}`)
    } else if (stroke.text !== '') {
      commands.push(`send-keys -l -t ${target} -- ${quote(stroke.text)}`)
    }
  }
  return runGuarded(runner, guardedInputLine(paneId, commands), timeoutMs)
}
