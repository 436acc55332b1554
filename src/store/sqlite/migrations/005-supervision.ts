/** What supervision needs: how a question ended and by whom, whose hand a message came from, digests, and held queues. */
import type { Migration } from './migration.ts'

export const supervision: Migration = {
  version: 5,
  sql: `
ALTER TABLE questions ADD COLUMN operation TEXT CHECK (json_valid(operation));
ALTER TABLE questions ADD COLUMN state TEXT NOT NULL DEFAULT 'open';
ALTER TABLE questions ADD COLUMN answered_by TEXT;
ALTER TABLE questions ADD COLUMN detail TEXT;
ALTER TABLE questions ADD COLUMN notice_id INTEGER;
ALTER TABLE questions ADD COLUMN shown_to TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(shown_to));
UPDATE questions SET state = iif(answer IS NULL, 'overtaken', 'answered') WHERE closed_at_ms IS NOT NULL;
CREATE INDEX questions_by_notice ON questions (notice_id) WHERE notice_id IS NOT NULL;

ALTER TABLE messages ADD COLUMN author TEXT;
ALTER TABLE messages ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;
-- The digest that brings this message to its receiver.
ALTER TABLE messages ADD COLUMN carried_by INTEGER REFERENCES messages (id) ON DELETE SET NULL;
-- Where a message stands in its receiver's queue, when that is not where its id is.
ALTER TABLE messages ADD COLUMN place INTEGER;
CREATE INDEX messages_by_carrier ON messages (carried_by) WHERE carried_by IS NOT NULL;

CREATE TABLE holds (
  terminal_id TEXT NOT NULL PRIMARY KEY REFERENCES terminals (id) ON DELETE CASCADE,
  held_by TEXT NOT NULL,
  why TEXT NOT NULL,
  held_at_ms INTEGER NOT NULL
) STRICT;
`,
}
