/**
 * Kimi Code's record of a conversation, its "wire": one JSON object a line, appended to. Of its many kinds the prompts, the
 * texts of the model and the ends of turns are read; sub-agents have records of their own. Pure.
 */
import { type Fields, fieldsOf, numberOf, objectsOf, parseFields, textOf } from '../fields.ts'
import type { TurnCost } from '../provider.ts'

export type WireRecord =
  /** Taken as a prompt. `from`: a person; a person, into a turn that ran; or the program, as when work in the background has ended. */
  | { readonly kind: 'prompt'; readonly text: string; readonly from: 'user' | 'steer' | 'program' }
  /** One more request to the model: what was said before is not the answer. */
  | { readonly kind: 'step' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tokens'; readonly input: number; readonly output: number }
  | {
      readonly kind: 'ended'
      readonly outcome: WireOutcome
      readonly error: WireError | undefined
      readonly durationMs: number | undefined
    }

export type WireOutcome = 'answered' | 'interrupted' | 'failed'
export type WireError = { readonly name: string; readonly message: string }

/** A last line that is still being written is left out. */
export function parseWire(text: string): readonly WireRecord[] {
  return text.split('\n').flatMap((line) => {
    const fields = line.startsWith('{') ? parseFields(line) : undefined
    return fields === undefined ? [] : readRecord(fields)
  })
}

function readRecord(fields: Fields): readonly WireRecord[] {
  switch (fields['type']) {
    case 'turn.prompt':
    case 'turn.steer': {
      const parts = objectsOf(fields, 'input').flatMap((part) => textOf(part, 'text') ?? [])
      const isOfUser = textOf(fieldsOf(fields, 'origin'), 'kind') === 'user'
      const from = fields['type'] === 'turn.steer' ? 'steer' : isOfUser ? 'user' : 'program'
      return [{ kind: 'prompt', text: parts.join('\n'), from }]
    }
    case 'context.append_loop_event':
      return readLoopEvent(fieldsOf(fields, 'event'))
    case 'usage.record':
      return fields['usageScope'] === 'turn' ? [readTokens(fieldsOf(fields, 'usage'))] : []
    case 'turn.ended': {
      const outcome = outcomes[textOf(fields, 'reason') ?? ''] ?? 'failed'
      return [{ kind: 'ended', outcome, error: readError(fields), durationMs: numberOf(fields, 'durationMs') }]
    }
    default:
      return []
  }
}

const outcomes: Readonly<Record<string, WireOutcome>> = { completed: 'answered', cancelled: 'interrupted' }

function readError(fields: Fields): WireError | undefined {
  const error = fieldsOf(fields, 'error')
  const message = textOf(error, 'message')
  return message === undefined ? undefined : { name: textOf(error, 'name') ?? '', message }
}

function readLoopEvent(event: Fields): readonly WireRecord[] {
  if (event['type'] === 'step.begin') return [{ kind: 'step' }]
  const part = fieldsOf(event, 'part')
  const text = event['type'] === 'content.part' && part['type'] === 'text' ? textOf(part, 'text') : undefined
  return text === undefined ? [] : [{ kind: 'text', text }]
}

function readTokens(usage: Fields): WireRecord {
  const count = (name: string) => numberOf(usage, name) ?? 0
  const input = count('inputOther') + count('inputCacheRead') + count('inputCacheCreation')
  return { kind: 'tokens', input, output: count('output') }
}

export type LastTurn =
  | { readonly kind: 'none' }
  /** It runs, or the program ended in it. */
  | { readonly kind: 'open' }
  | {
      readonly kind: 'ended'
      readonly outcome: WireOutcome
      readonly error: WireError | undefined
      readonly text: string
      readonly cost: TurnCost
    }

/** How the newest turn stands. `text` is all that was said in its last step. */
export function findLastTurn(records: readonly WireRecord[]): LastTurn {
  const begin = records.findLastIndex((record) => record.kind === 'prompt' && record.from !== 'steer')
  if (begin < 0) return { kind: 'none' }
  const turn = records.slice(begin)
  const ended = turn.find((record) => record.kind === 'ended')
  if (ended === undefined) return { kind: 'open' }
  const tokens = turn.filter((record) => record.kind === 'tokens')
  const lastStep = turn.findLastIndex((record) => record.kind === 'step')
  return {
    kind: 'ended',
    outcome: ended.outcome,
    error: ended.error,
    text: turn
      .slice(lastStep + 1)
      .flatMap((record) => (record.kind === 'text' ? [record.text] : []))
      .join('\n'),
    cost: {
      durationMs: ended.durationMs,
      inputTokens: tokens.reduce((sum, { input }) => sum + input, 0),
      outputTokens: tokens.reduce((sum, { output }) => sum + output, 0),
    },
  }
}

/** The limit of the person's plan, or the vendor's request to slow down; told apart from every other fault. */
export function isRateLimit({ name, message }: WireError): boolean {
  return /RateLimit|Quota/i.test(name) || /\b429\b|rate limit|usage limit|quota/i.test(message)
}
