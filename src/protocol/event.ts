/**
 * Events on the wire: the domain's union with snake_case names and ISO times, mapped by one rule in type and
 * value, so that a new event needs nothing here.
 */
import { z } from 'zod'
import { type DomainEvent, eventTypes } from '../domain/events.ts'
import { numberField, timeField } from './fields.ts'

type SnakeCase<S extends string> = S extends `${infer Head}${infer Tail}`
  ? Head extends Lowercase<Head>
    ? `${Head}${SnakeCase<Tail>}`
    : `_${Lowercase<Head>}${SnakeCase<Tail>}`
  : S
type WireValue<V> = V extends undefined
  ? null
  : V extends readonly (infer E)[]
    ? E[]
    : V extends string
      ? string & V
      : V
type WireFields<E> = { readonly [K in Exclude<keyof E, 'atMs'> & string as SnakeCase<K>]: WireValue<E[K]> }
/** Distributes over the union, so that `type` still tells the fields. */
type WireEvent<E> = E extends DomainEvent ? WireFields<E> & { readonly at: string } : never

export type EventBody = WireEvent<DomainEvent>
export const eventHistoryLimitMax = 500

const seqField = numberField(z.number().int().min(0)).describe('The `seq` of the last event that is known')
export const streamQuery = z.object({ after: seqField.optional() })
export const historyQuery = z.object({
  after: seqField.optional(),
  limit: numberField(z.number().int().min(1).max(eventHistoryLimitMax)).default(100),
})

/** What every event has; the other fields are told by its type (`domain/events.ts`). */
export const eventSchema = z
  .looseObject({ type: z.enum(eventTypes), seq: z.number().int(), at: timeField })
  .meta({ id: 'Event' })
export const eventHistorySchema = z
  .object({
    events: z.array(eventSchema),
    /** True when events before the first one here were trimmed. */
    gap: z.boolean(),
    last_seq: z.number().int(),
  })
  .meta({ id: 'EventHistory' })
export type EventHistoryBody = Omit<z.infer<typeof eventHistorySchema>, 'events'> & {
  readonly events: readonly EventBody[]
}

/** Names of SSE frames that are not events themselves. */
export type StreamFrame =
  /** First frame: what was reloaded now is complete up to `seq`. */
  | { readonly kind: 'snapshot'; readonly seq: number }
  /** Events after `after` were trimmed, or the reader was too slow: reload, then go on from `seq`. */
  | { readonly kind: 'gap'; readonly after: number; readonly seq: number }
  | { readonly kind: 'event'; readonly event: EventBody }

export function toEventBody(event: DomainEvent): EventBody {
  const { atMs, ...fields } = event
  const entries = Object.entries(fields).map(([name, value]) => [toSnakeCase(name), value ?? null] as const)
  return { ...Object.fromEntries(entries), at: new Date(atMs).toISOString() } as EventBody
}

export function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
