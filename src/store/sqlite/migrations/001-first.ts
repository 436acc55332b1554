/**
 * The first schema. Conventions: times are milliseconds since 1970 in columns that end in `_at_ms`; lists and
 * objects are JSON texts; what is absent is NULL. States carry no CHECK, since the domain's tables guard them and
 * SQLite can change a CHECK only by rebuilding its table. Names of terminals that only label history (caller,
 * sender, session) are no foreign keys: they outlive what they name.
 */
import type { Migration } from './migration.ts'

export const first: Migration = {
  version: 1,
  sql: `
CREATE TABLE sessions (
  name TEXT NOT NULL PRIMARY KEY,
  working_directory TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE terminals (
  id TEXT NOT NULL PRIMARY KEY,
  session_name TEXT NOT NULL,
  name TEXT NOT NULL,
  provider TEXT NOT NULL,
  profile_name TEXT NOT NULL,
  caller_id TEXT,
  allowed_tools TEXT CHECK (json_valid(allowed_tools)),
  working_directory TEXT NOT NULL,
  program TEXT NOT NULL,
  argv TEXT NOT NULL CHECK (json_valid(argv)),
  binding TEXT NOT NULL CHECK (json_valid(binding)),
  permission_mode TEXT NOT NULL,
  limits_not_enforced TEXT NOT NULL CHECK (json_valid(limits_not_enforced)),
  model TEXT,
  env_names TEXT NOT NULL CHECK (json_valid(env_names)),
  life TEXT NOT NULL,
  pane TEXT CHECK (json_valid(pane)),
  exit TEXT CHECK (json_valid(exit)),
  lost_reason TEXT,
  group_path TEXT CHECK (json_valid(group_path)),
  metadata TEXT CHECK (json_valid(metadata)),
  created_at_ms INTEGER NOT NULL,
  last_active_at_ms INTEGER NOT NULL,
  output_offset INTEGER NOT NULL DEFAULT 0,
  hook_offset INTEGER NOT NULL DEFAULT 0,
  turns_ended INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX terminals_by_session ON terminals (session_name) WHERE life <> 'deleted';

CREATE TABLE jobs (
  id TEXT NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL,
  caller_id TEXT,
  worker_id TEXT REFERENCES terminals (id) ON DELETE SET NULL,
  profile_name TEXT NOT NULL,
  task TEXT NOT NULL,
  request_key TEXT,
  message_id INTEGER REFERENCES messages (id) ON DELETE SET NULL,
  state TEXT NOT NULL,
  result TEXT CHECK (json_valid(result)),
  deadline_at_ms INTEGER NOT NULL,
  teardown INTEGER NOT NULL CHECK (teardown IN (0, 1)),
  is_reported INTEGER NOT NULL DEFAULT 0 CHECK (is_reported IN (0, 1)),
  created_at_ms INTEGER NOT NULL,
  ended_at_ms INTEGER
) STRICT;
-- A person has no terminal id: NULLs would all differ in the index.
CREATE UNIQUE INDEX jobs_by_request ON jobs (ifnull(caller_id, ''), request_key) WHERE request_key IS NOT NULL;
CREATE INDEX jobs_by_worker ON jobs (worker_id) WHERE worker_id IS NOT NULL;
CREATE INDEX jobs_by_message ON jobs (message_id) WHERE message_id IS NOT NULL;
CREATE INDEX jobs_by_state ON jobs (state);

-- AUTOINCREMENT: a purged id never comes back as another message.
CREATE TABLE messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  token TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  sender_id TEXT NOT NULL,
  receiver_id TEXT NOT NULL REFERENCES terminals (id),
  job_id TEXT REFERENCES jobs (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
  body TEXT NOT NULL,
  state TEXT NOT NULL,
  detail TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX messages_by_receiver ON messages (receiver_id, state);
CREATE INDEX messages_by_state ON messages (state);
CREATE INDEX messages_by_job ON messages (job_id) WHERE job_id IS NOT NULL;

CREATE TABLE questions (
  id TEXT NOT NULL PRIMARY KEY,
  terminal_id TEXT NOT NULL REFERENCES terminals (id) ON DELETE CASCADE,
  reason TEXT NOT NULL,
  text TEXT NOT NULL,
  options TEXT NOT NULL CHECK (json_valid(options)),
  vendor_id TEXT,
  opened_at_ms INTEGER NOT NULL,
  closed_at_ms INTEGER,
  answer TEXT
) STRICT;
CREATE INDEX questions_by_terminal ON questions (terminal_id);
CREATE INDEX questions_open ON questions (opened_at_ms) WHERE closed_at_ms IS NULL;

CREATE TABLE events (
  seq INTEGER NOT NULL PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  body TEXT NOT NULL CHECK (json_valid(body))
) STRICT;

-- The newest event's number, kept apart from the events so that trimming all of them does not restart it.
CREATE TABLE event_counter (
  only_row INTEGER NOT NULL PRIMARY KEY CHECK (only_row = 1),
  last_seq INTEGER NOT NULL
) STRICT;
INSERT INTO event_counter (only_row, last_seq) VALUES (1, 0);

CREATE TABLE facts (
  key TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;
`,
}
