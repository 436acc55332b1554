/**
 * Takes up one open job of the last server, wherever that was cut off: before its worker started, before the task was sent, while it
 * worked, after its turn ended and before the answer was written down, during its checks. Nothing is done twice.
 */
import { AppError } from '../domain/errors.ts'
import type { Job } from '../domain/job.ts'
import type { Terminal } from '../domain/terminal.ts'
import type { JobDoors, JobsContext } from './job-doors.ts'
import type { JobNews } from './job-news.ts'
import { describeGone, failure } from './job-words.ts'

export type ResumeParts = {
  readonly context: JobsContext
  readonly doors: JobDoors
  readonly news: JobNews
  readonly startAgain: (job: Job) => void
  readonly sendTask: (job: Job, workerId: Terminal['id']) => void
}

export function resumeJob(parts: ResumeParts, job: Job): void {
  const { context, news } = parts
  const { store, scope } = context
  if (job.claim !== undefined) return scope.spawn(`checks of ${job.id}`, (signal) => news.check(job.id, signal))
  const worker = job.workerId === undefined ? undefined : store.terminals.find(job.workerId)
  const task = job.messageId === undefined ? undefined : store.messages.find(job.messageId)
  if (task === undefined) return resumeUnsent(parts, job, worker)
  if (task.state === 'answered') {
    return scope.spawn(`answer of ${job.id}`, (signal) => offerAnswer(parts, job, signal))
  }
  if (worker?.life !== 'live') return news.failCut(job, describeGone(worker))
  news.noteMessage(task)
}

/** The task was never sent. */
function resumeUnsent(parts: ResumeParts, job: Job, worker: Terminal | undefined): void {
  const { context, doors, news } = parts
  if (worker?.life === 'live') return parts.sendTask(job, worker.id)
  if (job.request.reuseTerminalId !== undefined) return news.failCut(job, describeGone(worker))
  // What is left of a launch that was cut off did nothing yet.
  if (worker !== undefined && worker.life !== 'deleted') {
    context.scope.spawn(`end of worker ${worker.id}`, () => doors.deleteTerminal(worker.id))
  }
  parts.startAgain(job)
}

/** Its turn ended, and the answer was not written down any more. A later turn would hide it: then it is not guessed. */
async function offerAnswer({ context, doors, news }: ResumeParts, job: Job, signal: AbortSignal): Promise<void> {
  const { store } = context
  const { workerId, messageId } = job
  if (workerId === undefined || messageId === undefined) return news.failCut(job, describeGone(undefined))
  const later = ['answered', 'confirmed', 'turn_started'] as const
  const isHidden = store.messages.list(workerId, { limit: 1_000, states: later }).some(({ id }) => id > messageId)
  try {
    if (isHidden) throw new AppError('CONFLICT', 'its worker has gone on to something else')
    const { text, source } = await doors.readAnswer(workerId, { signal })
    news.offer(job, { answer: text, failure: undefined, source, ending: 'turn_ended' })
  } catch (error) {
    if (signal.aborted || !(error instanceof AppError)) throw error
    news.offer(job, failure('no_answer', `its turn ended while no server ran: ${error.message}`))
  }
}
