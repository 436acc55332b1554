/**
 * What an agent is doing: upstream's six words, each with a reason, a time and the evidence for it.
 * Evidence comes from many sources; `status-reducer.ts` weighs it. Nothing here reads a screen.
 */
import type { QuestionId } from './ids.ts'

export const statuses = ['unknown', 'idle', 'processing', 'completed', 'waiting_user_answer', 'error'] as const
export type Status = (typeof statuses)[number]

export const statusReasons = [
  'starting',
  'ready',
  'turn',
  'turn_ended',
  'interrupted',
  'background',
  'retrying',
  'hung',
  'permission',
  'question',
  'trust',
  'login',
  'update',
  'rate_limited',
  'api_error',
  'exited',
  'lost',
  'backend_silent',
] as const
export type StatusReason = (typeof statusReasons)[number]

/** Best first. Death, from `process`, overrides rank. */
export const evidenceSources = ['api', 'hook', 'transcript', 'title', 'screen', 'process'] as const
export type EvidenceSource = (typeof evidenceSources)[number]

export type WaitingReason = 'permission' | 'question' | 'trust' | 'login' | 'update'
export const turnOutcomes = ['answered', 'interrupted', 'failed'] as const
export type TurnOutcome = (typeof turnOutcomes)[number]

/** What one piece of evidence says. */
export type Claim =
  /** Nothing runs and the composer is there. `isStable`: seen unchanged in two captures. */
  | { readonly kind: 'ready'; readonly isStable: boolean }
  /** A turn is running now. */
  | { readonly kind: 'busy'; readonly reason: 'turn' | 'background' | 'retrying' | 'hung' }
  | { readonly kind: 'turn_started' }
  | { readonly kind: 'turn_ended'; readonly outcome: TurnOutcome; readonly answer: string | undefined }
  | { readonly kind: 'waiting'; readonly reason: WaitingReason; readonly question: QuestionText }
  | { readonly kind: 'question_closed' }
  | { readonly kind: 'failed'; readonly reason: 'rate_limited' | 'api_error'; readonly detail: string }
  | { readonly kind: 'exited'; readonly code: number | undefined; readonly signal: string | undefined }
  | { readonly kind: 'lost'; readonly why: string }
  /** The backend does not answer: changes no row, gives way to the next evidence. */
  | { readonly kind: 'backend_silent' }
  /** The agent was started (again): everything before is another life. */
  | { readonly kind: 'launched' }

export type ClaimKind = Claim['kind']

/** A question as the agent asked it. `vendorId`: what the agent's own API calls it, when it has a name. */
export type QuestionText = {
  readonly text: string
  readonly options: readonly string[]
  readonly vendorId: string | undefined
  readonly operation?: Operation | undefined
}

/** What an agent would do if it is allowed, in its program's own words. */
export type Operation = {
  readonly kind: 'command' | 'file' | 'tool'
  /** The command line, the path, or the tool with its arguments. */
  readonly what: string
  /** Where, if the program says it. */
  readonly directory?: string | undefined
}

export type Evidence = {
  readonly source: EvidenceSource
  readonly claim: Claim
  /** When it was observed, milliseconds since 1970; for a screen, when the capture was asked for. */
  readonly atMs: number
  /** Where to look: a rule's name, a hook file, an event type, a log offset. */
  readonly raw: string
}

/** Which claims a provider's source always makes when the thing happens; only such a source can contradict by silence. */
export type Announces = Readonly<Partial<Record<EvidenceSource, readonly ClaimKind[]>>>

export type StatusView = {
  readonly status: Status
  readonly reason: StatusReason
  readonly sinceMs: number
  /** A sentence for the person: the question, the error, the exit code. */
  readonly detail: string | undefined
  readonly because: Evidence | undefined
  readonly questionId: QuestionId | undefined
}
