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

export const sourceSchema = z
  .object({
    source: z.string(),
    /** 1 is the best; a better one overrules. */
    rank: z.number().int(),
    /** What it always tells, so that its silence counts. */
    announces: z.array(z.string()),
    has_spoken: z.boolean(),
    /** Of what it told and has not told the end: turn, question. */
    holds: z.array(z.string()),
  })
  .meta({ id: 'EvidenceSource' })
export type SourceBody = z.infer<typeof sourceSchema>

export const explainedScreenSchema = z
  .object({
    lines: z.array(z.string()),
    rule: z.string(),
    /** Of the rule: where it looks, what stands there, what it says, and its file when it is not built in. */
    region: z.string().nullable(),
    region_text: z.string().nullable(),
    says: z.string().nullable(),
    rule_origin: z.string().nullable(),
    composer: z.string(),
    /** What is seen of a draft. */
    composer_text: z.string().nullable(),
  })
  .meta({ id: 'ExplainedScreen' })

/** A screen to be made a fixture of; lines with colours and attributes as SGR sequences. */
export const captureSchema = z
  .object({
    provider: z.string(),
    program: z.string(),
    lines: z.array(z.string()),
    cols: z.number().int(),
    rows: z.number().int(),
    title: z.string(),
    alternate: z.boolean(),
    cursor: z.object({ x: z.number().int(), y: z.number().int(), visible: z.boolean() }),
  })
  .meta({ id: 'ScreenCapture' })
export type CaptureBody = z.infer<typeof captureSchema>

export const explainSchema = z
  .object({
    terminal: terminalSchema,
    /** Oldest first. */
    trail: z.array(trailSchema),
    /** Best first. */
    sources: z.array(sourceSchema),
    screen: explainedScreenSchema.nullable(),
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

export function toSourceBody({ source, rank, announces, hasSpoken, holds }: SourceFacts): SourceBody {
  return { source, rank, announces: [...announces], has_spoken: hasSpoken, holds: [...holds] }
}
type SourceFacts = {
  readonly source: string
  readonly rank: number
  readonly announces: readonly string[]
  readonly hasSpoken: boolean
  readonly holds: readonly string[]
}

export function toScreenBody(screen: ScreenFacts): z.infer<typeof explainedScreenSchema> {
  const { lines, rule, region, regionText, says, ruleOrigin, composer, composerText } = screen
  return {
    lines: [...lines],
    rule,
    region: region ?? null,
    region_text: regionText ?? null,
    says: says ?? null,
    rule_origin: ruleOrigin ?? null,
    composer,
    composer_text: composerText ?? null,
  }
}
type ScreenFacts = {
  readonly lines: readonly string[]
  readonly rule: string
  readonly region: string | undefined
  readonly regionText: string | undefined
  readonly says: string | undefined
  readonly ruleOrigin: string | undefined
  readonly composer: string
  readonly composerText: string | undefined
}
