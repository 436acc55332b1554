/** What a job needs to be started again, to be tried anew, and to wait for its checks. */
import type { Migration } from './migration.ts'

export const jobs: Migration = {
  version: 3,
  sql: `
ALTER TABLE jobs ADD COLUMN request TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(request));
ALTER TABLE jobs ADD COLUMN retry_of TEXT;
ALTER TABLE jobs ADD COLUMN claim TEXT CHECK (json_valid(claim));
ALTER TABLE jobs ADD COLUMN checks_run INTEGER NOT NULL DEFAULT 0;
CREATE INDEX jobs_by_caller ON jobs (caller_id) WHERE caller_id IS NOT NULL;
CREATE INDEX jobs_by_retry ON jobs (retry_of) WHERE retry_of IS NOT NULL;
`,
}
