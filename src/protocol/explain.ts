/** All that CAO knows about one terminal and why it says what it says, for `cao explain`. */
import type { TrailEntry } from '../domain/status-reducer.ts'
import { toTime } from './fields.ts'
import type { MessageBody } from './message.ts'
import type { QuestionBody } from './question.ts'
import type { TerminalBody } from './terminal.ts'

export type TrailBody = {
  readonly at: string
  readonly source: string
  readonly claim: string
  /** Where to look: a rule's name, a hook file, a log offset. */
  readonly raw: string
  readonly effect: 'took' | 'kept' | 'dropped'
  readonly why: string
}

export type ExplainBody = {
  readonly terminal: TerminalBody
  /** Oldest first. */
  readonly trail: readonly TrailBody[]
  readonly screen: { readonly lines: readonly string[]; readonly rule: string; readonly composer: string } | null
  readonly open_messages: readonly MessageBody[]
  readonly open_questions: readonly QuestionBody[]
  readonly facts: Readonly<Record<string, string>>
}

export function toTrailBody({ evidence, effect, why }: TrailEntry): TrailBody {
  const { claim } = evidence
  const said = 'reason' in claim ? `${claim.kind} (${claim.reason})` : claim.kind
  return { at: toTime(evidence.atMs), source: evidence.source, claim: said, raw: evidence.raw, effect, why }
}
