/**
 * Gemini CLI's record of a conversation: one JSON object a line, appended to. A prompt is written when its turn begins, what the
 * model said when one of its messages is whole; a message is written again with its tool calls when they are done. After an
 * interruption the earlier conversation may be written once more, up to a line that lists it: copies, which are left out. Pure.
 */
import { type Fields, fieldsOf, listOf, numberOf, objectsOf, parseFields, textOf } from '../fields.ts'
import type { TurnCost } from '../provider.ts'

export type ChatRecord = { readonly atMs: number } & (
  | { readonly kind: 'prompt'; readonly text: string }
  /** A message of the model. `hasCalls`: tools were called and are done; where they are not, nothing tells of them yet. */
  | {
      readonly kind: 'said'
      readonly id: string
      readonly text: string
      readonly hasCalls: boolean
      readonly input: number
      readonly output: number
    }
  /** The results of tools went to the model. */
  | { readonly kind: 'results' }
  | { readonly kind: 'error'; readonly text: string }
  | { readonly kind: 'cancelled' }
)

/** Where a reader stands, between two readings of one file. */
export type Reading = { readonly isCopying: boolean }
export const newReading: Reading = { isCopying: false }

const contextBegin = /^\s*<(?:session_context|state_snapshot)>/
const cancelledText = /^Request cancelled\b/

/** A line that is still being written must not be in `text`; what can not be read is left out. */
export function parseChat(
  text: string,
  before: Reading = newReading,
): { readonly records: readonly ChatRecord[]; readonly reading: Reading } {
  let { isCopying } = before
  const records: ChatRecord[] = []
  for (const line of text.split('\n')) {
    const fields = line.startsWith('{') ? parseFields(line) : undefined
    if (fields === undefined) continue
    if (fields['$set'] !== undefined) {
      if (fieldsOf(fields, '$set')['messages'] !== undefined) isCopying = false
      continue
    }
    if (beginsCopy(fields)) isCopying = true
    if (!isCopying) records.push(...readRecord(fields))
  }
  return { records, reading: { isCopying } }
}

/** No prompt of a person begins with what Gemini CLI puts before the first one. */
function beginsCopy(fields: Fields): boolean {
  const [first] = objectsOf(fields, 'content')
  return fields['type'] === 'user' && first !== undefined && contextBegin.test(textOf(first, 'text') ?? '')
}

function readRecord(fields: Fields): readonly ChatRecord[] {
  const atMs = Date.parse(textOf(fields, 'timestamp') ?? '')
  if (Number.isNaN(atMs)) return []
  const text = textOfContent(fields)
  switch (fields['type']) {
    case 'user':
      if (objectsOf(fields, 'content').some((part) => part['functionResponse'] !== undefined)) {
        return [{ kind: 'results', atMs }]
      }
      return text === '' ? [] : [{ kind: 'prompt', text, atMs }]
    case 'gemini': {
      const tokens = fieldsOf(fields, 'tokens')
      const [input, output] = [numberOf(tokens, 'input') ?? 0, numberOf(tokens, 'output') ?? 0]
      const hasCalls = listOf(fields, 'toolCalls').length > 0
      return [{ kind: 'said', id: textOf(fields, 'id') ?? '', text, hasCalls, input, output, atMs }]
    }
    case 'error':
      return [{ kind: 'error', text: describeError(text), atMs }]
    case 'info':
      return cancelledText.test(text) ? [{ kind: 'cancelled', atMs }] : []
    default:
      return []
  }
}

function textOfContent(fields: Fields): string {
  const whole = textOf(fields, 'content')
  if (whole !== undefined) return whole
  return objectsOf(fields, 'content')
    .map((part) => textOf(part, 'text') ?? '')
    .join('')
}

/** `[API Error: {"error":{"code":400,"message":"…"}}]`, or a sentence in the same brackets. */
export function describeError(text: string): string {
  const inner = /^\[?API Error: ([\s\S]*?)\]?\s*$/.exec(text.trim())?.[1] ?? text.trim()
  const error = fieldsOf(parseFields(inner) ?? {}, 'error')
  const message = textOf(error, 'message')
  const code = numberOf(error, 'code')
  if (message === undefined) return inner
  return code === undefined || message.includes(String(code)) ? message : `${message} (${code})`
}

/** The limit of the person's plan, or the vendor's request to slow down; told apart from every other fault. */
export const isRateLimit = (detail: string): boolean => /\b429\b|quota|rate limit|RESOURCE_EXHAUSTED/i.test(detail)

/** A turn as far as its record goes. */
export type Turn = {
  /** What was said since the last step, by message. */
  readonly said: readonly { readonly id: string; readonly text: string }[]
  /** The last message may be the answer: no call of a tool is known in it. */
  readonly hasAnswer: boolean
  readonly error: string | undefined
  readonly isCancelled: boolean
  readonly beganMs: number
  readonly lastMs: number
  readonly tokens: ReadonlyMap<string, { readonly input: number; readonly output: number }>
}

export function beginTurn(atMs: number): Turn {
  return {
    said: [],
    hasAnswer: false,
    error: undefined,
    isCancelled: false,
    beganMs: atMs,
    lastMs: atMs,
    tokens: new Map(),
  }
}

export function stepTurn(before: Turn, record: ChatRecord): Turn {
  const turn = { ...before, lastMs: record.atMs }
  switch (record.kind) {
    case 'prompt':
      return beginTurn(record.atMs)
    case 'said': {
      const { id, text, input, output } = record
      const tokens = new Map([...turn.tokens, [id, { input, output }]])
      // With calls it was a step on the way: what was said before is not the answer.
      if (record.hasCalls) return { ...turn, said: [], hasAnswer: false, tokens }
      return { ...turn, said: [...turn.said.filter((one) => one.id !== id), { id, text }], hasAnswer: true, tokens }
    }
    case 'results':
      return { ...turn, said: [], hasAnswer: false }
    case 'error':
      return { ...turn, error: record.text }
    case 'cancelled':
      return { ...turn, isCancelled: true }
  }
}

export type TurnEnd =
  | { readonly outcome: 'answered'; readonly text: string; readonly cost: TurnCost }
  | { readonly outcome: 'failed'; readonly error: string }
  | { readonly outcome: 'interrupted' }

/** How the turn ended, once it has; undefined when its record does not tell. */
export function readEnd(turn: Turn): TurnEnd | undefined {
  if (turn.isCancelled) return { outcome: 'interrupted' }
  if (turn.error !== undefined) return { outcome: 'failed', error: turn.error }
  if (!turn.hasAnswer) return undefined
  const text = turn.said
    .map((one) => one.text)
    .filter((one) => one !== '')
    .join('\n\n')
  const spent = [...turn.tokens.values()]
  const sum = (pick: (one: { readonly input: number; readonly output: number }) => number) =>
    spent.reduce((total, one) => total + pick(one), 0)
  return {
    outcome: 'answered',
    text,
    cost: {
      durationMs: turn.lastMs - turn.beganMs,
      inputTokens: sum(({ input }) => input),
      outputTokens: sum(({ output }) => output),
    },
  }
}

/** The turns of a record in order. */
export function listTurns(records: readonly ChatRecord[]): readonly Turn[] {
  const turns: Turn[] = []
  for (const record of records) {
    const last = record.kind === 'prompt' ? undefined : turns.pop()
    if (record.kind === 'prompt') turns.push(beginTurn(record.atMs))
    else if (last !== undefined) turns.push(stepTurn(last, record))
  }
  return turns
}
