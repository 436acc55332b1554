/** What a sender is told of its message: when it came to each rung, by which proof, how its turn ended; and dead letters. */
import type { Migration } from './migration.ts'

export const receipts: Migration = {
  version: 4,
  sql: `
ALTER TABLE messages ADD COLUMN class TEXT NOT NULL DEFAULT 'idle';
ALTER TABLE messages ADD COLUMN rungs TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(rungs));
ALTER TABLE messages ADD COLUMN proof TEXT;
ALTER TABLE messages ADD COLUMN turn_outcome TEXT;
ALTER TABLE messages ADD COLUMN resend_of INTEGER;
ALTER TABLE messages ADD COLUMN dropped_at_ms INTEGER;
CREATE UNIQUE INDEX messages_by_resend ON messages (resend_of) WHERE resend_of IS NOT NULL;
CREATE INDEX messages_by_class ON messages (receiver_id) WHERE state = 'queued' AND class <> 'idle';
`,
}
