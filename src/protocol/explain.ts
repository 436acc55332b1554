/** All that CAO knows about one terminal and why it says what it says, for `cao explain`. */
import { z } from 'zod'
import type { TrailEntry } from '../domain/status-reducer.ts'
import { timeField, toTime } from './fields.ts'
import { messageSchema } from './message.ts'
import { questionSchema } from './question.ts'
import { terminalSchema } from './terminal.ts'

export const trailSchema = z
  .object({
    at: timeField,
    source: z.string(),
    claim: z.string(),
    /** Where to look: a rule's name, a hook file, a log offset. */
    raw: z.string(),
    effect: z.enum(['took', 'kept', 'dropped']),
    why: z.string(),
  })
  .meta({ id: 'TrailEntry' })
export type TrailBody = z.infer<typeof trailSchema>

export const explainSchema = z
  .object({
    terminal: terminalSchema,
    /** Oldest first. */
    trail: z.array(trailSchema),
    screen: z.object({ lines: z.array(z.string()), rule: z.string(), composer: z.string() }).nullable(),
    open_messages: z.array(messageSchema),
    open_questions: z.array(questionSchema),
    facts: z.record(z.string(), z.string()),
  })
  .meta({ id: 'Explanation' })
export type ExplainBody = z.infer<typeof explainSchema>

export function toTrailBody({ evidence, effect, why }: TrailEntry): TrailBody {
  const { claim } = evidence
  const said = 'reason' in claim ? `${claim.kind} (${claim.reason})` : claim.kind
  return { at: toTime(evidence.atMs), source: evidence.source, claim: said, raw: evidence.raw, effect, why }
}
