/** Single values of CAO itself. */
import type { Store } from '../store.ts'
import { readText } from './columns.ts'
import type { Database } from './database.ts'

export function createFacts(database: Database): Pick<Store, 'getFact' | 'setFact'> {
  return {
    getFact(key) {
      const row = database.get('SELECT value FROM facts WHERE key = :key', { key })
      return row && readText(row, 'value')
    },
    setFact(key, value) {
      const sql = 'INSERT INTO facts (key, value) VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = :value'
      database.run(sql, { key, value })
    },
  }
}
