/** Whose file it is and which schema it has, as its header says. */
import { columnInteger, type Database } from './database.ts'

/** Stands in the file's header: "CAO1" in ASCII. */
export const applicationId = 0x43414f31

export const readSchema = (database: Database): number => columnInteger(database, 'PRAGMA user_version')
export const isOurs = (database: Database): boolean =>
  columnInteger(database, 'PRAGMA application_id') === applicationId
