/**
 * Brings the end of a job to its asker, once: whoever waits for it fetches it, everybody else gets it as a message. The claim of
 * the report and the message stand in one transaction, so that a crash loses neither and doubles neither.
 */
import { sleep } from '../async/wait.ts'
import type { JobId, TerminalId } from '../domain/ids.ts'
import type { Job } from '../domain/job.ts'
import type { Message, MessageKind } from '../domain/message.ts'
import { jobWaitMaxS } from '../protocol/version.ts'
import type { AppContext } from './context.ts'
import type { CoreContext } from './core-context.ts'
import { formatReport } from './job-words.ts'

/** An asker asks again at least this often; later it is taken to have gone. Units: ms. */
const fetchGraceMs = (jobWaitMaxS + 15) * 1_000
/** For one that only started a handoff: it may be about to fetch the result. Units: ms. */
const unattendedGraceMs = 2_000

export type QueueReport = (message: {
  readonly kind: MessageKind
  readonly senderId: string
  readonly receiverId: TerminalId
  readonly body: string
  readonly jobId: JobId | undefined
}) => Message

export type ReportsContext = CoreContext & Pick<AppContext, 'scope'>

export class JobReports {
  readonly #context: ReportsContext
  readonly #queue: QueueReport

  constructor(context: ReportsContext, queue: QueueReport) {
    this.#context = context
    this.#queue = queue
  }

  /** `isLate`: the asker was told of another end before, so it does not wait any more. */
  noteEnded(job: Job, isLate: boolean): void {
    const { callerId } = job
    if (callerId === undefined || job.kind === 'step') return
    if (job.kind === 'assign' || isLate) this.#callBack(job, callerId, isLate)
    else this.#callBackLater(job, callerId)
  }

  /** The ends that the last server could not bring to their askers. */
  resume(): void {
    for (const job of this.#context.store.jobs.listUnreported()) this.noteEnded(job, false)
  }

  #callBackLater(job: Job, callerId: TerminalId): void {
    const { clock, scope } = this.#context
    const graceMs = job.request.isUnattended === true ? unattendedGraceMs : fetchGraceMs
    scope.spawn(`fetching of ${job.id}`, async (signal) => {
      await sleep(clock, graceMs, signal).catch(() => undefined)
      if (!signal.aborted) this.#callBack(job, callerId, false)
    })
  }

  #callBack(job: Job, callerId: TerminalId, isLate: boolean): void {
    const { store, log } = this.#context
    try {
      store.transaction(() => {
        if (!store.jobs.claimReport(job.id)) return
        if (this.#hasReportedItself(job, callerId)) return
        this.#queue({
          kind: 'callback',
          senderId: job.workerId ?? 'cao',
          receiverId: callerId,
          body: formatReport(job, isLate),
          jobId: job.id,
        })
      })
    } catch (error) {
      log.write('warn', 'callback not queued', { jobId: job.id, callerId, error: String(error) })
    }
  }

  /** A worker that wrote to its asker by itself has reported: a second report would double it. */
  #hasReportedItself({ workerId, state, createdAtMs }: Job, callerId: TerminalId): boolean {
    if (workerId === undefined || state !== 'answered') return false
    return this.#context.store.messages.hasSent(workerId, callerId, createdAtMs)
  }
}
