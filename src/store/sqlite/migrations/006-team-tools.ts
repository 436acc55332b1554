/** What the workers of an agent may have at most, apart from what it uses itself. */
import type { Migration } from './migration.ts'

export const teamTools: Migration = {
  version: 6,
  sql: `
ALTER TABLE terminals ADD COLUMN team_tools TEXT CHECK (json_valid(team_tools));
UPDATE terminals SET team_tools = allowed_tools;
`,
}
