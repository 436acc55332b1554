/** Queues that a person has stopped; one row for each, gone with its terminal. */
import type { HoldRows } from '../store.ts'
import { readInteger, readText } from './columns.ts'
import type { Database } from './database.ts'

export function createHoldRows(database: Database): HoldRows {
  return {
    find(id) {
      const row = database.get('SELECT * FROM holds WHERE terminal_id = :id', { id })
      return row && { by: readText(row, 'held_by'), why: readText(row, 'why'), atMs: readInteger(row, 'held_at_ms') }
    },
    set(id, { by, why, atMs }) {
      const sql = `INSERT INTO holds (terminal_id, held_by, why, held_at_ms) VALUES (:id, :by, :why, :atMs)
        ON CONFLICT (terminal_id) DO NOTHING`
      return database.run(sql, { id, by, why, atMs }) === 1
    },
    clear: (id) => database.run('DELETE FROM holds WHERE terminal_id = :id', { id }) === 1,
  }
}
