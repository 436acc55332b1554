/** The event log. Its numbers come from a counter row, so that a rolled back event leaves no gap. */
import type { DomainEvent, DomainEventBody } from '../../domain/events.ts'
import type { EventRows } from '../store.ts'
import { readInteger, readJson } from './columns.ts'
import { columnInteger, type Database, type Row } from './database.ts'

/** What is absent is kept as null, so that an event that is read again has all the fields that it was told with. */
const toText = (body: DomainEventBody): string => JSON.stringify(body, (_name, value: unknown) => value ?? null)
const fromText = (row: Row): DomainEventBody => {
  const fields = Object.entries(readJson<Record<string, unknown>>(row, 'body'))
  return Object.fromEntries(fields.map(([name, value]) => [name, value ?? undefined])) as DomainEventBody
}

const toEvent = (row: Row): DomainEvent => ({
  ...fromText(row),
  seq: readInteger(row, 'seq'),
  atMs: readInteger(row, 'at_ms'),
})

export function createEventRows(database: Database): EventRows {
  const lastSeq = (): number => columnInteger(database, 'SELECT last_seq FROM event_counter')
  return {
    append: (body, atMs) =>
      database.atomically(() => {
        const seq = columnInteger(database, 'UPDATE event_counter SET last_seq = last_seq + 1 RETURNING last_seq')
        database.run('INSERT INTO events (seq, at_ms, body) VALUES (:seq, :atMs, :body)', {
          seq,
          atMs,
          body: toText(body),
        })
        return { ...body, seq, atMs }
      }),
    listAfter: (afterSeq, limit) =>
      database
        .all('SELECT * FROM events WHERE seq > :afterSeq ORDER BY seq LIMIT :limit', { afterSeq, limit })
        .map(toEvent),
    lastSeq,
    firstSeq: () => columnInteger(database, 'SELECT ifnull(min(seq), 0) FROM events'),
    trim: (keep) =>
      database.run('DELETE FROM events WHERE seq <= (SELECT last_seq FROM event_counter) - :keep', { keep }),
  }
}
