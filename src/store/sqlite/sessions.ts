/** Sessions: a name that terminals share. */
import { type SessionName, trustId } from '../../domain/ids.ts'
import type { Session } from '../../domain/terminal.ts'
import type { SessionRows } from '../store.ts'
import { readInteger, readText } from './columns.ts'
import type { Database, Row } from './database.ts'

const toSession = (row: Row): Session => ({
  name: trustId<SessionName>(readText(row, 'name')),
  createdAtMs: readInteger(row, 'created_at_ms'),
  workingDirectory: readText(row, 'working_directory'),
})

export function createSessionRows(database: Database): SessionRows {
  return {
    insert(session) {
      const changes = database.run(
        `INSERT INTO sessions (name, working_directory, created_at_ms) VALUES (:name, :workingDirectory, :createdAtMs)
         ON CONFLICT (name) DO NOTHING`,
        { name: session.name, workingDirectory: session.workingDirectory, createdAtMs: session.createdAtMs },
      )
      return changes === 1 ? 'inserted' : 'taken'
    },
    find(name) {
      const row = database.get('SELECT * FROM sessions WHERE name = :name', { name })
      return row && toSession(row)
    },
    list: () => database.all('SELECT * FROM sessions ORDER BY created_at_ms, rowid').map(toSession),
    delete: (name) => database.run('DELETE FROM sessions WHERE name = :name', { name }) === 1,
  }
}
