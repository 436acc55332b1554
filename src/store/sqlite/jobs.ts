/** Jobs: delegated work, found again by its caller's key, ended once, reported once. */
import { AppError } from '../../domain/errors.ts'
import { type JobId, type TerminalId, trustId, trustMessageId } from '../../domain/ids.ts'
import {
  isJobOpen,
  type Job,
  type JobKind,
  type JobRequest,
  type JobResult,
  type JobState,
  jobStates,
  stepJob,
} from '../../domain/job.ts'
import { assert } from '../../lib/assert.ts'
import type { JobFilter, JobRows, NewJob } from '../store.ts'
import { readFlag, readInteger, readJson, readOneOf, readOptional, readText, writeJson } from './columns.ts'
import type { Database, Parameters, Row } from './database.ts'
import { moveRow } from './move.ts'

const kinds: readonly JobKind[] = ['handoff', 'assign', 'step']
const readTerminalId = (row: Row, column: string): TerminalId => trustId<TerminalId>(readText(row, column))

function readResult(row: Row, column: string): JobResult {
  const { answer, failure, source, ending, checks } = readJson<Partial<JobResult>>(row, column)
  return { answer, failure, source, ending, checks }
}

function toJob(row: Row): Job {
  return {
    id: trustId<JobId>(readText(row, 'id')),
    kind: readOneOf(row, 'kind', kinds),
    callerId: readOptional(row, 'caller_id', readTerminalId),
    workerId: readOptional(row, 'worker_id', readTerminalId),
    profileName: readText(row, 'profile_name'),
    task: readText(row, 'task'),
    requestKey: readOptional(row, 'request_key', readText),
    messageId: readOptional(row, 'message_id', (r, c) => trustMessageId(readInteger(r, c))),
    state: readOneOf(row, 'state', jobStates),
    result: readOptional(row, 'result', readResult),
    deadlineAtMs: readInteger(row, 'deadline_at_ms'),
    teardown: readFlag(row, 'teardown'),
    request: readJson<JobRequest>(row, 'request'),
    retryOf: readOptional(row, 'retry_of', (r, c) => trustId<JobId>(readText(r, c))),
    claim: readOptional(row, 'claim', readResult),
    checksRun: readInteger(row, 'checks_run'),
    isReported: readFlag(row, 'is_reported'),
    createdAtMs: readInteger(row, 'created_at_ms'),
    endedAtMs: readOptional(row, 'ended_at_ms', readInteger),
  }
}

const insertSql = `
INSERT INTO jobs (id, kind, caller_id, profile_name, task, request_key, state, deadline_at_ms, teardown, request, retry_of,
  created_at_ms)
VALUES (:id, :kind, :callerId, :profileName, :task, :requestKey, 'created', :deadlineAtMs, :teardown, :request, :retryOf,
  :createdAtMs)
RETURNING *`

const stepSql = `
UPDATE jobs SET state = :to, result = :result, ended_at_ms = :endedAtMs,
  is_reported = CASE WHEN :isNews THEN 0 ELSE is_reported END
WHERE id = :id AND state = :from
RETURNING *`

const openStates = JSON.stringify(jobStates.filter((state) => isJobOpen({ state })))
const isOpen = `state IN (SELECT value FROM json_each(:openStates))`

function findByRequest(
  database: Database,
  job: { readonly callerId: TerminalId | undefined; readonly requestKey: string | undefined },
): Job | undefined {
  if (job.requestKey === undefined) return undefined
  const sql = `SELECT * FROM jobs WHERE ifnull(caller_id, '') = :caller AND request_key = :requestKey`
  const row = database.get(sql, { caller: job.callerId ?? '', requestKey: job.requestKey })
  return row && toJob(row)
}

function insertJob(database: Database, job: NewJob): ReturnType<JobRows['insert']> {
  const known = findByRequest(database, job)
  if (known !== undefined) return { job: known, isNew: false }
  const row = database.get(insertSql, {
    id: job.id,
    kind: job.kind,
    callerId: job.callerId ?? null,
    profileName: job.profileName,
    task: job.task,
    requestKey: job.requestKey ?? null,
    deadlineAtMs: job.deadlineAtMs,
    teardown: job.teardown ? 1 : 0,
    request: JSON.stringify(job.request),
    retryOf: job.retryOf ?? null,
    createdAtMs: job.createdAtMs,
  })
  assert(row !== undefined, 'an inserted job came back empty')
  return { job: toJob(row), isNew: true }
}

function listJobs(database: Database, filter: JobFilter): readonly Job[] {
  const { limit, states, callerId, workerId, partOf } = filter
  const given = { states: states && JSON.stringify(states), callerId, workerId, partOf }
  const conditions = {
    states: 'state IN (SELECT value FROM json_each(:states))',
    callerId: 'caller_id = :callerId',
    workerId: 'worker_id = :workerId',
    partOf: '(caller_id = :partOf OR worker_id = :partOf)',
  }
  const asked = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  const where = ['true', ...asked.map(([name]) => conditions[name as keyof typeof conditions])].join(' AND ')
  const sql = `SELECT * FROM jobs WHERE ${where} ORDER BY created_at_ms DESC, rowid DESC LIMIT :limit`
  return database.all(sql, { ...Object.fromEntries(asked), limit }).map(toJob)
}

export function createJobRows(database: Database): JobRows {
  const list = (condition: string, values: Parameters): readonly Job[] =>
    database.all(`SELECT * FROM jobs WHERE ${condition} ORDER BY created_at_ms, rowid`, values).map(toJob)
  const update = (id: JobId, sql: string, values: Parameters): void => {
    if (database.run(sql, { id, ...values }) === 0) throw new AppError('NOT_FOUND', `There is no job ${id}`)
  }
  const find = (id: JobId): Job | undefined => list('id = :id', { id })[0]
  return {
    insert: (job) => database.atomically(() => insertJob(database, job)),
    find,
    findByRequest: (callerId, requestKey) => findByRequest(database, { callerId, requestKey }),
    findRetry: (id) => list('retry_of = :id', { id })[0],
    list: (filter) => listJobs(database, filter),
    listOpen: () => list(isOpen, { openStates }),
    listUnreported: () =>
      list(`is_reported = 0 AND caller_id IS NOT NULL AND kind != 'step' AND NOT ${isOpen}`, { openStates }),
    listForWorker: (workerId) => list('worker_id = :workerId', { workerId }),
    findByMessage: (messageId) => list('message_id = :messageId', { messageId })[0],
    setWorker: (id, workerId) => update(id, 'UPDATE jobs SET worker_id = :workerId WHERE id = :id', { workerId }),
    setMessage: (id, messageId) => update(id, 'UPDATE jobs SET message_id = :messageId WHERE id = :id', { messageId }),
    setClaim: (id, claim, checksRun) =>
      update(id, 'UPDATE jobs SET claim = :claim, checks_run = :checksRun WHERE id = :id', {
        claim: writeJson(claim),
        checksRun,
      }),
    step: (id, step, change) =>
      moveRow<Job, JobState>({
        find: () => find(id),
        state: (job) => job.state,
        decide: (from) => stepJob(from, step),
        update(_job, from, to) {
          const endedAtMs = isJobOpen({ state: to }) ? null : change.atMs
          const isNews = step === 'correct' ? 1 : 0
          const row = database.get(stepSql, { id, from, to, result: writeJson(change.result), endedAtMs, isNews })
          return row && toJob(row)
        },
      }),
    claimReport(id) {
      const sql = `UPDATE jobs SET is_reported = 1 WHERE id = :id AND is_reported = 0 AND NOT ${isOpen}`
      return database.run(sql, { id, openStates }) === 1
    },
  }
}
