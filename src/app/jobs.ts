/**
 * Delegated work as durable rows. A job starts a worker (or takes a running one), sends it the task, and ends with the worker's
 * exact answer, with what the worker reports by itself, or with the reason why there is none.
 *
 * Here jobs begin, are cancelled, tried anew and taken up after a restart (`job-resume.ts`). What is heard of their workers is
 * `job-news.ts`, how one ends `job-ends.ts`, how the asker learns of it `job-reports.ts`.
 */
import { sleep, type Waiting } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import { type JobId, makeJobId, makeSessionName, type SessionName, type TerminalId } from '../domain/ids.ts'
import { isCorrectable, isJobOpen, type Job } from '../domain/job.ts'
import type { JobFilter } from '../store/store.ts'
import type { JobAttention, RetryJob, StartJob } from './app.ts'
import { describeAttention } from './job-attention.ts'
import type { JobDoors, JobsContext } from './job-doors.ts'
import { JobEnds } from './job-ends.ts'
import { JobNews } from './job-news.ts'
import { givenOf, requireSame, toCreate, toRequest } from './job-request.ts'
import { resumeJob } from './job-resume.ts'
import { describeGone, describeWorker, failure, formatTask } from './job-words.ts'

export class Jobs {
  readonly #context: JobsContext
  readonly #doors: JobDoors
  readonly ends: JobEnds
  /** Whose worker is being launched: what is half made is not taken down, but when it stands. */
  readonly #launching = new Set<JobId>()
  /** What is heard of the workers goes here. */
  readonly news: JobNews

  constructor(context: JobsContext, doors: JobDoors) {
    this.#context = context
    this.#doors = doors
    this.ends = new JobEnds(context, doors)
    this.news = new JobNews(context, doors, this.ends)
  }

  list(filter: JobFilter): readonly Job[] {
    return this.#context.store.jobs.list(filter)
  }

  /** What an open job waits for, other than its worker's work. */
  attentionOf(job: Job): JobAttention | undefined {
    return describeAttention(this.#context, job)
  }

  /** Creates the job, or finds it by the caller's request key, and starts it in the background. Errors: CONFLICT for the key of another task. */
  async start(request: StartJob, waiting: Waiting): Promise<Job> {
    const { store, clock, events, random, scope, profiles } = this.#context
    const known = request.requestKey && store.jobs.findByRequest(request.callerId, request.requestKey)
    if (known) return requireSame(known, request)
    if (request.reuseTerminalId === undefined) {
      await profiles.load(request.profileName)
      await this.#doors.admit(this.#sessionOf(request), request.callerId)
    }
    waiting.signal.throwIfAborted()
    const reuseTerminalId =
      request.reuseTerminalId ?? (request.isReuseIdle === true ? this.#doors.findIdleWorker(request) : undefined)
    const nowMs = clock.nowMs()
    const created = store.transaction(() => {
      const { job, isNew } = store.jobs.insert({
        id: makeJobId(random),
        kind: request.kind,
        callerId: request.callerId,
        profileName: request.profileName,
        task: request.task,
        requestKey: request.requestKey,
        deadlineAtMs: nowMs + request.timeoutMs,
        teardown: request.teardown,
        request: toRequest(request, reuseTerminalId),
        retryOf: request.retryOf,
        createdAtMs: nowMs,
      })
      if (!isNew) return { job, event: undefined }
      const { id: jobId, kind, callerId, profileName } = job
      return { job, event: store.events.append({ type: 'job.created', jobId, kind, callerId, profileName }, nowMs) }
    })
    const { job } = created
    if (created.event === undefined) return requireSame(job, request)
    events.announce(created.event)
    scope.spawn(`deadline of ${job.id}`, (signal) => this.#watchDeadline(job, signal))
    // The worker's row must exist when the caller reads the job: it is told the worker's id.
    await this.#startWorker(job, request.clientEnv, waiting)
    return this.ends.require(job.id)
  }

  #sessionOf({ sessionName, callerId }: Pick<StartJob, 'sessionName' | 'callerId'>): SessionName {
    const caller = callerId === undefined ? undefined : this.#context.store.terminals.find(callerId)
    return sessionName ?? caller?.sessionName ?? makeSessionName(this.#context.random)
  }

  async #startWorker(job: Job, clientEnv: StartJob['clientEnv'], waiting: Waiting): Promise<void> {
    const { store, scope } = this.#context
    const { reuseTerminalId, sessionName } = job.request
    try {
      if (reuseTerminalId !== undefined) {
        store.jobs.setWorker(job.id, reuseTerminalId)
        this.#sendTask(job, reuseTerminalId)
        return
      }
      const { callerId } = job
      const start = {
        sessionName: this.#sessionOf({ ...(sessionName && { sessionName }), ...(callerId && { callerId }) }),
        request: toCreate(job, clientEnv),
        onInserted: (id: TerminalId) => store.jobs.setWorker(job.id, id),
      }
      this.#launching.add(job.id)
      const worker = await this.#doors.startWorker(start, waiting).finally(() => this.#launching.delete(job.id))
      const now = this.ends.require(job.id)
      if (!isJobOpen(now)) return this.ends.stopWork(now)
      scope.spawn(`worker of ${job.id}`, async (signal) => {
        try {
          await worker.isReady
          this.#sendTask(job, worker.id)
        } catch (error) {
          // A server that closes leaves the job open: the next one goes on with it.
          if (!signal.aborted) this.ends.end(job.id, 'fail', failure('not_started', describe(error)))
        }
      })
    } catch (error) {
      this.ends.end(job.id, 'fail', failure('not_started', describe(error)))
      throw error
    }
  }

  /** Queues the task, once: message and job are tied in one transaction. */
  #sendTask(job: Job, workerId: TerminalId): void {
    const { store } = this.#context
    const { state, messageId } = this.ends.require(job.id)
    if (!isJobOpen({ state }) || messageId !== undefined) return
    this.news.tell(job, workerId, formatTask(job))
    this.ends.step(job.id, 'start', undefined)
    // Its worker may have ended while it was started.
    const worker = store.terminals.find(workerId)
    if (worker?.life === 'lost') this.news.noteWorkerGone(workerId, describeGone(worker))
  }

  /** Ends the job and its work: a worker that was made for it ends, any other is interrupted. */
  cancel(id: JobId): Job {
    const job = this.ends.require(id)
    this.ends.end(id, 'cancel', failure('cancelled', 'cancelled by its asker'))
    if (isJobOpen(job) && !this.#launching.has(id)) this.ends.stopWork(job)
    return this.ends.require(id)
  }

  /** The same work as a new job. Asked for twice it is the same retry. Errors: CONFLICT for one that is open or was answered; as `start`. */
  async retry(id: JobId, retry: RetryJob, waiting: Waiting): Promise<Job> {
    const job = this.ends.require(id)
    if (isJobOpen(job)) throw new AppError('CONFLICT', `job ${id} is still ${job.state}; cancel it first`)
    if (job.state === 'answered') throw new AppError('CONFLICT', `job ${id} was answered; ask anew for another answer`)
    const isFirst = this.#context.store.jobs.findRetry(id) === undefined
    const { callerId, kind, profileName, task, teardown, deadlineAtMs, createdAtMs } = job
    const started = await this.start(
      {
        ...givenOf(job.request),
        kind,
        profileName,
        task,
        teardown,
        timeoutMs: retry.timeoutMs ?? job.request.timeoutMs ?? deadlineAtMs - createdAtMs,
        requestKey: retry.requestKey ?? `retry of ${id}`,
        retryOf: id,
        ...(callerId && { callerId }),
        ...(retry.clientEnv && { clientEnv: retry.clientEnv }),
      },
      waiting,
    )
    // Two workers at one task would be worse than none.
    if (isFirst && isCorrectable(job) && job.workerId !== started.workerId && !this.#launching.has(id)) {
      this.ends.stopWork(job)
    }
    return started
  }

  /** Takes up the open jobs of the last server, and tells askers of ends that it could not tell them. */
  resume(): void {
    const { store, scope } = this.#context
    const parts = {
      context: this.#context,
      doors: this.#doors,
      news: this.news,
      // The job has its end by then, with the reason.
      startAgain: (job: Job) =>
        scope.spawn(`start of ${job.id}`, (signal) =>
          this.#startWorker(job, undefined, { signal }).catch(() => undefined),
        ),
      sendTask: (job: Job, workerId: TerminalId) => this.#sendTask(job, workerId),
    }
    for (const job of store.jobs.listOpen()) {
      scope.spawn(`deadline of ${job.id}`, (signal) => this.#watchDeadline(job, signal))
      resumeJob(parts, job)
    }
    this.ends.resume()
  }

  async #watchDeadline(job: Job, signal: AbortSignal): Promise<void> {
    const { clock } = this.#context
    // In slices, so that a machine that slept or a changed clock is noticed.
    while (clock.nowMs() < job.deadlineAtMs) {
      await sleep(clock, Math.min(60_000, job.deadlineAtMs - clock.nowMs()), signal).catch(() => undefined)
      if (signal.aborted || !isJobOpen(this.ends.require(job.id))) return
    }
    const { runtimes } = this.#context
    const { workerId } = this.ends.require(job.id)
    const state = workerId === undefined ? undefined : runtimes.get(workerId)?.state
    this.ends.end(job.id, 'time_out', failure('timed_out', `no answer in time: ${describeWorker(workerId, state)}`))
  }
}

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error))
