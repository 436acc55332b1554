/** The scripted agent's hook events as signals. Pure; what has an unknown shape gives nothing. */
import type { Claim, TurnOutcome } from '../../domain/status.ts'

export type HookSignal =
  | { readonly kind: 'claim'; readonly claim: Claim; readonly atMs: number; readonly endedTurn: string | undefined }
  | { readonly kind: 'accepted'; readonly text: string; readonly atMs: number }

export type HookFields = Readonly<Record<string, unknown>>

export function parsePayload(payload: unknown): HookFields | undefined {
  return typeof payload === 'object' && payload !== null && !Array.isArray(payload) ? { ...payload } : undefined
}

/** undefined: an event that says nothing, or is not as it should be. */
export function readHook(name: string, fields: HookFields, atMs: number): HookSignal | undefined {
  const at = fields['at']
  const whenMs = typeof at === 'number' ? at : atMs
  const claim = (made: Claim, endedTurn?: string): HookSignal => ({
    kind: 'claim',
    claim: made,
    atMs: whenMs,
    endedTurn,
  })
  switch (name) {
    case 'SessionStart':
      return claim({ kind: 'ready', isStable: true })
    case 'PromptAccepted': {
      const text = textOf(fields, 'text')
      return text === undefined ? undefined : { kind: 'accepted', text, atMs: whenMs }
    }
    case 'TurnStarted':
      return claim({ kind: 'turn_started' })
    case 'QuestionOpened': {
      const made = readQuestion(fields)
      return made === undefined ? undefined : claim(made)
    }
    case 'QuestionClosed':
      return claim({ kind: 'question_closed' })
    case 'TurnEnded': {
      const outcome = outcomes.find((known) => known === fields['outcome'])
      if (outcome === undefined) return undefined
      return claim({ kind: 'turn_ended', outcome, answer: textOf(fields, 'answer') }, textOf(fields, 'turn'))
    }
    case 'Failed': {
      const reason = fields['reason'] === 'rate_limited' ? 'rate_limited' : 'api_error'
      return claim({ kind: 'failed', reason, detail: textOf(fields, 'detail') ?? '' })
    }
    default:
      return undefined
  }
}

const outcomes: readonly TurnOutcome[] = ['answered', 'interrupted', 'failed']

function readQuestion(fields: HookFields): Claim | undefined {
  const text = textOf(fields, 'text')
  const options = fields['options']
  if (text === undefined || !Array.isArray(options)) return undefined
  const question = {
    text,
    options: options.filter((option) => typeof option === 'string'),
    vendorId: textOf(fields, 'id'),
  }
  return { kind: 'waiting', reason: fields['kind'] === 'permission' ? 'permission' : 'question', question }
}

function textOf(fields: HookFields, name: string): string | undefined {
  const value = fields[name]
  return typeof value === 'string' ? value : undefined
}
