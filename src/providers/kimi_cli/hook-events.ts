/** Kimi Code's hook events as facts. Pure; what has an unknown shape gives nothing. */
import { isFields, objectsOf, textOf } from '../fields.ts'

/** The hooks that CAO asks for. */
export const hookNames = [
  'SessionStart',
  'UserPromptSubmit',
  'PermissionResult',
  'PostToolUse',
  'Stop',
  'StopFailure',
  'Interrupt',
] as const

/** Of these events only what concerns this tool: its end is the answer to a question. */
export const hookMatchers: Readonly<Record<string, string>> = { PostToolUse: '^AskUserQuestion$' }

export type HookFact = { readonly sessionId: string } & (
  | { readonly kind: 'session' }
  /** A prompt was taken; a steering one came into a turn that ran. */
  | { readonly kind: 'prompt'; readonly text: string; readonly isSteering: boolean }
  | { readonly kind: 'permission_answered' }
  /** A turn ended, of the agent or of a sub-agent: nothing in the event tells which. */
  | { readonly kind: 'ended' }
)

export function readHook(name: string, payload: unknown): HookFact | undefined {
  if (!isFields(payload)) return undefined
  const sessionId = textOf(payload, 'session_id')
  if (sessionId === undefined) return undefined
  switch (name) {
    case 'SessionStart':
      return { kind: 'session', sessionId }
    case 'UserPromptSubmit': {
      const parts = objectsOf(payload, 'prompt').flatMap((part) => textOf(part, 'text') ?? [])
      return { kind: 'prompt', sessionId, text: parts.join('\n'), isSteering: payload['is_steer'] === true }
    }
    case 'PermissionResult':
    case 'PostToolUse':
      return { kind: 'permission_answered', sessionId }
    case 'Stop':
    case 'StopFailure':
    case 'Interrupt':
      return { kind: 'ended', sessionId }
    default:
      return undefined
  }
}
