/**
 * One conversation: its id, its record, the hooks that hear of it, and its picture as history lines. Every event goes
 * first into the record, then to the hooks, so that who is told finds it written.
 */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../../async/clock.ts'
import { QueueFullError } from '../../async/serial-queue.ts'
import type { Hooks } from './hooks.ts'
import type { HistoryLine } from './terminal/history.ts'
import type { Transcript, TranscriptLine, TranscriptType } from './transcript.ts'

/** A message is shown by its first lines. */
const messageLinesShownMax = 12
const lineCharsShownMax = 2_000

export type HookName =
  | 'SessionStart'
  | 'PromptAccepted'
  | 'TurnStarted'
  | 'QuestionOpened'
  | 'QuestionClosed'
  | 'TurnEnded'
  | 'Failed'
  | 'SessionEnd'

export type ConversationOptions = {
  readonly clock: Clock
  readonly transcript: Transcript
  readonly hooks: Hooks
  readonly show: (lines: readonly HistoryLine[]) => void
}

export class Conversation {
  readonly #options: ConversationOptions
  #turn = ''

  constructor(options: ConversationOptions) {
    this.#options = options
  }

  /** Shows what was said before. Errors: those of the file system. */
  replay(): number {
    const lines = this.#options.transcript.load()
    for (const line of lines) this.#options.show(renderRecord(line))
    return lines.length
  }

  /** Writes one line; returns its id. Errors: those of the file system. */
  record(type: TranscriptType, text: string, more: Partial<TranscriptLine> = {}): string {
    const id = randomUUID()
    if (type === 'user') this.#turn = id
    const turn = type === 'session' ? '' : this.#turn
    this.#options.transcript.append({ type, id, turn, at: this.#options.clock.nowMs(), text, ...more })
    return id
  }

  /** Tells the hooks, in order; settles when told. Errors: none; a hook that fails is its owner's loss. */
  async tell(event: HookName, payload: Readonly<Record<string, unknown>> = {}): Promise<void> {
    try {
      const outcome = await this.#options.hooks.tell(event, { turn: this.#turn, ...payload })
      if (outcome === 'failed' || outcome === 'timed-out') this.note(`hook ${event}: ${outcome}`)
    } catch (error) {
      if (!(error instanceof QueueFullError)) throw error
      this.note(`hook ${event}: dropped, ${error.message}`)
    }
  }

  note(text: string): void {
    this.#options.show([{ mark: '  ', text, isDim: true }])
  }

  showMessage(text: string): void {
    this.#options.show(renderMessage(text))
  }
}

export function renderMessage(text: string): readonly HistoryLine[] {
  const lines = text.split(/\r\n|\r|\n/)
  const shown = lines.slice(0, messageLinesShownMax).map((line, index) => ({
    mark: index === 0 ? '❯ ' : '  ',
    text: line.length > lineCharsShownMax ? `${line.slice(0, lineCharsShownMax)}…` : line,
    isDim: true,
  }))
  const more = lines.length - shown.length
  const rest = more > 0 ? [{ mark: '  ', text: `… and ${more} more lines`, isDim: true }] : []
  return [{ mark: '', text: '', isDim: false }, ...shown, ...rest]
}

export function renderAnswer(text: string): readonly HistoryLine[] {
  return text.split(/\r\n|\r|\n/).map((line, index) => ({ mark: index === 0 ? '● ' : '  ', text: line, isDim: false }))
}

function renderRecord(line: TranscriptLine): readonly HistoryLine[] {
  switch (line.type) {
    case 'user':
      return renderMessage(line.text)
    case 'assistant':
      return line.text === '' ? [] : renderAnswer(line.text)
    case 'tool':
      return [{ mark: '⚙ ', text: line.text.split('\n', 1)[0] ?? '', isDim: true }]
    case 'interrupted':
    case 'error':
      return [{ mark: '  ', text: `${line.type}: ${line.text.split('\n', 1)[0] ?? ''}`, isDim: true }]
    case 'session':
    case 'question':
      return []
  }
}
