/**
 * Input to a pane. The check that the pane can take it and the input itself are ONE command, for
 * a paste into a dead pane ends the whole server on tmux 3.2a and 3.3a, and nothing may come
 * between. Any pane mode is left first, since it would swallow keys.
 * "Done" means that tmux took it; no tmux can tell that the program read it.
 */
import { assert } from '../lib/assert.ts'
import { classifyClientError } from './client-error.ts'
import { isKeyName } from './key-names.ts'
import { makeNonce } from './nonce.ts'
import { endTurnCommand } from './panes.ts'
import { escapeFormat, quote } from './quote.ts'
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

export type InputTarget = {
  readonly paneId: string
  /**
   * The pane must carry this option with this value, else it counts as gone: pane ids start again
   * at %0 when a server does. Letters, digits, - and _ only.
   */
  readonly tag: { readonly option: string; readonly value: string }
  /** Process that the pane was made with: after a respawn by a person the pane is not ours any more, and counts as gone. */
  readonly pid?: number
}

/** One line that runs `commands` only when the pane is the tagged one, lives and takes input, and prints what it found. */
export function guardedInputLine(
  target: InputTarget,
  commands: readonly string[],
  otherwise: readonly string[] = [],
): string {
  const pane = paneTarget(target.paneId)
  const refuse = (verdict: string) => [...otherwise, `display-message -p -t ${pane} '${verdict}'`].join(' ; ')
  const act = [`copy-mode -q -t ${pane}`, ...commands, 'display-message -p done'].join(' ; ')
  const isDeaf = '#{||:#{pane_dead},#{pane_input_off}}'
  const checked = `if-shell -F -t ${pane} '${isDeaf}' ${quote(refuse('#{?pane_dead,dead,input-off}'))} ${quote(act)}`
  return `if-shell -F -t ${pane} ${tagCondition(target)} ${quote(checked)} ${quote(refuse('gone'))}`
}

function tagCondition({ tag, pid }: InputTarget): string {
  assert(/^@[a-z0-9_]+$/.test(tag.option) && /^[A-Za-z0-9_-]+$/.test(tag.value), 'a tag is a plain word')
  const isTagged = `#{==:#{${tag.option}},${tag.value}}`
  if (pid === undefined) return quote(isTagged)
  assert(Number.isSafeInteger(pid), 'a process id is a whole number')
  return quote(`#{&&:${isTagged},#{==:#{pane_pid},${pid}}}`)
}

/** Ends the pane, when it is the tagged one. `done` or `gone`; its processes get HUP. */
export function killTaggedPane(runner: Runner, target: InputTarget): Promise<InputOutcome> {
  const pane = paneTarget(target.paneId)
  const kill = quote(`kill-pane -t ${pane} ; display-message -p done`)
  const line = `${endTurnCommand} ; if-shell -F -t ${pane} ${tagCondition(target)} ${kill} 'display-message -p gone'`
  return runGuarded(runner, line, undefined)
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
  if (verdict === 'done' || verdict === 'gone' || verdict === 'dead' || verdict === 'input-off')
    return { kind: verdict }
  return { kind: 'failed', detail: `tmux did not say what it did: ${printed.join(' | ').slice(0, 200)}` }
}

export type PasteRequest = InputTarget & {
  /** Absolute path of a file that tmux can read; its bytes are pasted as they are. */
  readonly path: string
  /** Wrap in bracket marks where the program asked for them (DECSET 2004). */
  readonly isBracketed: boolean
  /** Pane option that is set right after the paste, in the same guarded step: it says later which paste was the last. */
  readonly mark?: { readonly option: string; readonly value: string }
  readonly timeoutMs?: number
}

/** Pastes the content of a file. Leaves no buffer behind, whatever happens. Newlines stay newlines. */
export async function pasteFile(runner: Runner, request: PasteRequest): Promise<InputOutcome> {
  const buffer = `cao-${makeNonce()}`
  const target = paneTarget(request.paneId)
  const paste = `paste-buffer ${request.isBracketed ? '-p ' : ''}-r -d -b ${buffer} -t ${target}`
  const { mark } = request
  const marks = mark === undefined ? [] : [`set-option -p -t ${target} ${mark.option} ${quote(mark.value)}`]
  const line = guardedInputLine(request, [paste, ...marks], [`delete-buffer -b ${buffer}`])
  const outcome = await runGuarded(
    runner,
    // tmux expands formats in the path.
    `load-buffer -b ${buffer} ${quote(escapeFormat(request.path))} ; ${line}`,
    request.timeoutMs,
  )
  // A sequence that failed half-way did not come to its own clean-up.
  if (outcome.kind === 'gone' || outcome.kind === 'failed') await runner.run(`delete-buffer -b ${buffer}`)
  return outcome
}

export type Stroke = { readonly kind: 'key'; readonly name: string } | { readonly kind: 'text'; readonly text: string }

export type PressOutcome = InputOutcome | { readonly kind: 'unknown-key'; readonly name: string }

/** With synchronize-panes on, keys would go to the other panes of the window too: an Enter there may send somebody's draft. */
function aloneInPane(pane: string, commands: readonly string[]): string[] {
  const option = 'synchronize-panes'
  return [`set-option -p -t ${pane} ${option} off`, ...commands, `set-option -p -u -t ${pane} ${option}`]
}

/** Presses keys and types texts in order, as one command. A name that tmux might type literally is refused before anything is sent. */
export async function pressKeys(
  runner: Runner,
  target: InputTarget,
  strokes: readonly Stroke[],
  timeoutMs?: number,
): Promise<PressOutcome> {
  const pane = paneTarget(target.paneId)
  const commands: string[] = []
  for (const stroke of strokes) {
    if (stroke.kind === 'key') {
      if (!isKeyName(stroke.name)) return { kind: 'unknown-key', name: stroke.name }
      commands.push(`send-keys -t ${pane} ${quote(stroke.name)}`)
    } else if (stroke.text !== '') {
      commands.push(`send-keys -l -t ${pane} -- ${quote(stroke.text)}`)
    }
  }
  return runGuarded(runner, guardedInputLine(target, aloneInPane(pane, commands)), timeoutMs)
}
