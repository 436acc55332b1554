/**
 * Codex's record of a conversation, its "rollout": one JSON object a line, appended to. Of its many kinds the beginnings
 * and ends of turns, prompts, answers and calls of tools are read. Sub-agents have records of their own. Pure.
 */

import { type Fields, fieldsOf, numberOf, objectsOf, parseFields, textOf } from '../fields.ts'
import type { TurnCost } from '../provider.ts'

export type RolloutRecord = { readonly atMs: number } & (
  | { readonly kind: 'started'; readonly turnId: string }
  /** A prompt was taken: it began the turn, or came into it while it ran. */
  | { readonly kind: 'prompt'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  /** A tool was called: what was said before is not the answer. */
  | { readonly kind: 'step' }
  /** Of one request to the model. */
  | { readonly kind: 'tokens'; readonly input: number; readonly output: number }
  | {
      readonly kind: 'ended'
      readonly turnId: string
      readonly lastText: string | undefined
      readonly error: RolloutError | undefined
      readonly durationMs: number | undefined
    }
  | { readonly kind: 'aborted'; readonly turnId: string }
)

export type RolloutError = { readonly message: string; readonly info: string }

/** A line that is still being written must not be in `text`; what can not be read is left out. */
export function parseRollout(text: string): readonly RolloutRecord[] {
  return text.split('\n').flatMap((line) => {
    const fields = line.startsWith('{') ? parseFields(line) : undefined
    const atMs = Date.parse(fields === undefined ? '' : (textOf(fields, 'timestamp') ?? ''))
    if (fields === undefined || Number.isNaN(atMs)) return []
    return readRecord(textOf(fields, 'type') ?? '', fieldsOf(fields, 'payload'), atMs)
  })
}

function readRecord(type: string, payload: Fields, atMs: number): readonly RolloutRecord[] {
  switch (type) {
    case 'event_msg':
      return readEvent(payload, atMs)
    case 'response_item':
      return textOf(payload, 'type')?.endsWith('_call') === true ? [{ kind: 'step', atMs }] : []
    case 'token_usage_record': {
      const usage = fieldsOf(payload, 'usage')
      const [input, output] = [numberOf(usage, 'input_tokens') ?? 0, numberOf(usage, 'output_tokens') ?? 0]
      return [{ kind: 'tokens', input, output, atMs }]
    }
    default:
      return []
  }
}

function readEvent(payload: Fields, atMs: number): readonly RolloutRecord[] {
  const turnId = textOf(payload, 'turn_id') ?? ''
  switch (payload['type']) {
    case 'task_started':
      return [{ kind: 'started', turnId, atMs }]
    case 'task_complete':
      return [
        {
          kind: 'ended',
          turnId,
          lastText: textOf(payload, 'last_agent_message'),
          error: readError(payload),
          durationMs: numberOf(payload, 'duration_ms'),
          atMs,
        },
      ]
    case 'turn_aborted':
      return [{ kind: 'aborted', turnId, atMs }]
    case 'item_completed':
      return readItem(fieldsOf(payload, 'item'), atMs)
    default:
      return []
  }
}

function readItem(item: Fields, atMs: number): readonly RolloutRecord[] {
  const text = objectsOf(item, 'content')
    .map((part) => textOf(part, 'text') ?? '')
    .join('')
  if (item['type'] === 'UserMessage') return [{ kind: 'prompt', text, atMs }]
  return item['type'] === 'AgentMessage' ? [{ kind: 'text', text, atMs }] : []
}

function readError(payload: Fields): RolloutError | undefined {
  const error = fieldsOf(payload, 'error')
  const message = textOf(error, 'message')
  const info = error['codex_error_info']
  return message === undefined ? undefined : { message, info: typeof info === 'string' ? info : JSON.stringify(info) }
}

/** The turn at the end of a record, as far as it goes. */
export type Turn = {
  readonly isOpen: boolean
  /** The texts since the last step. */
  readonly texts: readonly string[]
  readonly input: number
  readonly output: number
}

export const noTurn: Turn = { isOpen: false, texts: [], input: 0, output: 0 }

export function stepTurn(turn: Turn, record: RolloutRecord): Turn {
  switch (record.kind) {
    case 'started':
      return { ...noTurn, isOpen: true }
    // Codex breaks off what it was saying when a prompt comes into the turn.
    case 'prompt':
    case 'step':
      return { ...turn, texts: [] }
    case 'text':
      return { ...turn, texts: [...turn.texts, record.text] }
    case 'tokens':
      return { ...turn, input: turn.input + record.input, output: turn.output + record.output }
    case 'ended':
    case 'aborted':
      return { ...turn, isOpen: false }
  }
}

export type TurnEnd =
  | { readonly outcome: 'answered'; readonly text: string; readonly cost: TurnCost }
  | { readonly outcome: 'failed'; readonly error: RolloutError }
  | { readonly outcome: 'interrupted' }

type EndRecord = Extract<RolloutRecord, { readonly kind: 'ended' | 'aborted' }>

/** How `turn` ended, by the record of its end. */
export function readEnd(turn: Turn, record: EndRecord): TurnEnd {
  if (record.kind === 'aborted') return { outcome: 'interrupted' }
  if (record.error !== undefined) return { outcome: 'failed', error: record.error }
  const texts = turn.texts.filter((text) => text !== '')
  const text = texts.length > 0 ? texts.join('\n') : (record.lastText ?? '')
  const { input, output } = turn
  return {
    outcome: 'answered',
    text,
    cost: { durationMs: record.durationMs, inputTokens: input, outputTokens: output },
  }
}

/** How the last turn ended that did, and whether another runs since. */
export function findLastEnd(records: readonly RolloutRecord[]): {
  readonly end: TurnEnd | undefined
  readonly isOpen: boolean
} {
  let turn = noTurn
  let end: TurnEnd | undefined
  for (const record of records) {
    if (record.kind === 'ended' || record.kind === 'aborted') end = readEnd(turn, record)
    turn = stepTurn(turn, record)
  }
  return { end, isOpen: turn.isOpen }
}

/** The limit of the person's plan, or the vendor's request to slow down; told apart from every other fault. */
export function isRateLimit({ message, info }: RolloutError): boolean {
  return /usage_limit|rate_limit/.test(info) || /\b429\b|usage limit|rate limit/i.test(message)
}
