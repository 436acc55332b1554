/** Claude Code's hook events as facts. Pure; what has an unknown shape, or comes from a sub-agent, gives nothing. */
import { type Fields, isFields, objectsOf, textOf } from '../fields.ts'
import { isOwnPrompt, unwrapPaste } from './prompt-text.ts'

/** The hooks that CAO asks for. */
export const hookNames = ['SessionStart', 'UserPromptSubmit', 'Stop', 'StopFailure'] as const

export type HookFact =
  /** A conversation is on the screen: at the start, resumed, or new after `/clear`. */
  | { readonly kind: 'session'; readonly sessionId: string; readonly transcript: string | undefined }
  /** `text` is undefined for a prompt that the program made for itself. */
  | {
      readonly kind: 'prompt'
      readonly sessionId: string
      readonly text: string | undefined
      /** Stands in the transcript, too; of a queued prompt it is that of the turn that runs. */
      readonly promptId: string | undefined
    }
  | {
      readonly kind: 'stopped'
      readonly sessionId: string
      readonly answer: string | undefined
      /** Sub-agents still work for this turn; the program goes on by itself when they end. */
      readonly isInBackground: boolean
    }
  | {
      readonly kind: 'failed'
      readonly sessionId: string
      readonly reason: 'rate_limited' | 'api_error'
      readonly detail: string
    }

export function readHook(name: string, payload: unknown): HookFact | undefined {
  if (!isFields(payload) || textOf(payload, 'agent_id') !== undefined) return undefined
  const sessionId = textOf(payload, 'session_id')
  if (sessionId === undefined) return undefined
  switch (name) {
    case 'SessionStart':
      return { kind: 'session', sessionId, transcript: textOf(payload, 'transcript_path') }
    case 'UserPromptSubmit': {
      const prompt = textOf(payload, 'prompt')
      if (prompt === undefined) return undefined
      const text = isOwnPrompt(prompt) ? undefined : unwrapPaste(prompt)
      return { kind: 'prompt', sessionId, text, promptId: textOf(payload, 'prompt_id') }
    }
    case 'Stop': {
      const answer = textOf(payload, 'last_assistant_message')
      return { kind: 'stopped', sessionId, answer, isInBackground: hasSubAgents(payload) }
    }
    case 'StopFailure':
      return readFailure(sessionId, payload)
    default:
      return undefined
  }
}

/** A shell in the background may run for ever, as a development server does: the turn does not wait for it. */
function hasSubAgents(payload: Fields): boolean {
  return objectsOf(payload, 'background_tasks').some(
    (task) => textOf(task, 'type') !== 'shell' && textOf(task, 'status') === 'running',
  )
}

function readFailure(sessionId: string, payload: Fields): HookFact {
  const error = textOf(payload, 'error') ?? 'unknown'
  const detail = textOf(payload, 'last_assistant_message') ?? error
  const isLimit = error === 'rate_limit' || /\b429\b/.test(detail)
  return { kind: 'failed', sessionId, reason: isLimit ? 'rate_limited' : 'api_error', detail }
}
