/**
 * Copilot CLI's record of a conversation: one JSON object a line, appended to. Of its many kinds the prompts, the answers, what was
 * asked and answered, and the ends are read; what sub-agents do is left out. Pure.
 */
import { type Fields, fieldsOf, listOf, numberOf, parseFields, textOf } from '../fields.ts'
import type { TurnCost } from '../provider.ts'

export type CopilotEvent = { readonly atMs: number } & (
  | { readonly kind: 'prompt'; readonly text: string }
  /** A request to the model begins. */
  | { readonly kind: 'step' }
  /** What the model said; with calls of tools the turn goes on. */
  | { readonly kind: 'message'; readonly text: string; readonly hasCalls: boolean }
  | { readonly kind: 'step_ended' }
  | { readonly kind: 'tokens'; readonly input: number; readonly output: number }
  | { readonly kind: 'answered' }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'failed'; readonly isLimit: boolean; readonly detail: string }
)

/** A last line that is still being written must not be in `text`; what can not be read is left out. */
export function parseEvents(text: string): readonly CopilotEvent[] {
  return text.split('\n').flatMap((line) => {
    const fields = line.startsWith('{') ? parseFields(line) : undefined
    const atMs = Date.parse(fields === undefined ? '' : (textOf(fields, 'timestamp') ?? ''))
    if (fields === undefined || Number.isNaN(atMs) || isOfSubAgent(fields)) return []
    return readEvent(textOf(fields, 'type') ?? '', fieldsOf(fields, 'data'), atMs)
  })
}

const isOfSubAgent = (fields: Fields): boolean =>
  textOf(fields, 'agentId') !== undefined || textOf(fieldsOf(fields, 'data'), 'parentToolCallId') !== undefined

function readEvent(type: string, data: Fields, atMs: number): readonly CopilotEvent[] {
  switch (type) {
    case 'user.message':
      // What the program says to the model by itself names its source.
      return (textOf(data, 'source') ?? 'user') === 'user'
        ? [{ kind: 'prompt', text: textOf(data, 'content') ?? '', atMs }]
        : []
    case 'assistant.turn_start':
      return [{ kind: 'step', atMs }]
    case 'assistant.message':
      return [
        {
          kind: 'message',
          text: textOf(data, 'content') ?? '',
          hasCalls: listOf(data, 'toolRequests').length > 0,
          atMs,
        },
      ]
    case 'assistant.turn_end':
      return [{ kind: 'step_ended', atMs }]
    case 'session.usage_record': {
      const usage = fieldsOf(data, 'usage')
      const [input, output] = [numberOf(usage, 'inputTokens') ?? 0, numberOf(usage, 'outputTokens') ?? 0]
      return [{ kind: 'tokens', input, output, atMs }]
    }
    case 'permission.completed':
    case 'human_response.recorded':
      return [{ kind: 'answered', atMs }]
    case 'abort':
      return [{ kind: 'aborted', atMs }]
    case 'session.error': {
      const detail = textOf(data, 'message') ?? 'no reason was given'
      const isLimit = /rate_limit|quota/.test(textOf(data, 'errorType') ?? '') || numberOf(data, 'statusCode') === 429
      return [{ kind: 'failed', isLimit, detail, atMs }]
    }
    default:
      return []
  }
}

/** The turn at the end of a record, as far as it goes. */
export type Turn = {
  readonly isOpen: boolean
  readonly beganAtMs: number
  /** What was said in the newest step. */
  readonly texts: readonly string[]
  /** It called tools: the turn goes on after it. */
  readonly hasCalls: boolean
  readonly input: number
  readonly output: number
}

export const noTurn: Turn = { isOpen: false, beganAtMs: 0, texts: [], hasCalls: false, input: 0, output: 0 }

export type TurnEnd =
  | { readonly outcome: 'answered'; readonly text: string; readonly cost: TurnCost }
  | { readonly outcome: 'failed'; readonly isLimit: boolean; readonly detail: string }
  | { readonly outcome: 'interrupted' }

/** What an event makes of a turn, and how it ended if this was its end. */
export function stepTurn(turn: Turn, event: CopilotEvent): { readonly turn: Turn; readonly end: TurnEnd | undefined } {
  const goOn = (change: Partial<Turn>) => ({ turn: { ...turn, ...change }, end: undefined })
  const close = (end: TurnEnd) => ({ turn: { ...turn, isOpen: false }, end: turn.isOpen ? end : undefined })
  switch (event.kind) {
    case 'prompt':
      // One that comes into a turn goes on with it.
      return turn.isOpen
        ? goOn({ texts: [] })
        : { turn: { ...noTurn, isOpen: true, beganAtMs: event.atMs }, end: undefined }
    case 'step':
      return goOn({ texts: [], hasCalls: false })
    case 'message':
      return goOn({ texts: [...turn.texts, event.text], hasCalls: turn.hasCalls || event.hasCalls })
    case 'tokens':
      return goOn({ input: turn.input + event.input, output: turn.output + event.output })
    case 'step_ended':
      // Without a word it failed or was broken off, which is told next.
      return turn.hasCalls || turn.texts.length === 0 ? goOn({}) : close(answeredBy(turn, event.atMs))
    case 'answered':
      return goOn({})
    case 'aborted':
      return close({ outcome: 'interrupted' })
    case 'failed':
      return close({ outcome: 'failed', isLimit: event.isLimit, detail: event.detail })
  }
}

function answeredBy({ texts, input, output, beganAtMs }: Turn, atMs: number): TurnEnd {
  const text = texts.filter((each) => each !== '').join('\n')
  return {
    outcome: 'answered',
    text,
    cost: { durationMs: atMs - beganAtMs, inputTokens: input, outputTokens: output },
  }
}

/** How the last turn ended that did, and whether another runs since. */
export function findLastEnd(events: readonly CopilotEvent[]): {
  readonly end: TurnEnd | undefined
  readonly isOpen: boolean
} {
  let turn = noTurn
  let last: TurnEnd | undefined
  for (const event of events) {
    const stepped = stepTurn(turn, event)
    turn = stepped.turn
    last = stepped.end ?? last
  }
  return { end: last, isOpen: turn.isOpen }
}
