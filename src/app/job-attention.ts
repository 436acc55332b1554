/** What an open job waits for, other than its worker's work: for whoever asks how it stands. */
import { isJobOpen, type Job } from '../domain/job.ts'
import type { JobAttention } from './app.ts'
import type { JobsContext } from './job-doors.ts'

/** Undefined: nothing that anybody has to do something about. */
export function describeAttention(
  { store, runtimes }: Pick<JobsContext, 'store' | 'runtimes'>,
  job: Job,
): JobAttention | undefined {
  if (!isJobOpen(job) || job.workerId === undefined) return undefined
  if (job.claim !== undefined) return { kind: 'checks', detail: 'its worker has an answer, and its checks run' }
  const question = store.questions.listOpen(job.workerId)[0]
  if (question !== undefined) {
    const options = question.options.map((option, index) => `${index + 1}. ${option}`)
    return { kind: 'question', detail: [question.text, ...options].join('\n'), questionId: question.id }
  }
  const task = job.messageId === undefined ? undefined : store.messages.find(job.messageId)
  if (task?.state === 'unconfirmed') {
    return { kind: 'unconfirmed', detail: `nothing proves that its worker took the task (${task.detail ?? ''})` }
  }
  const why = runtimes.get(job.workerId)?.worker.holdWhy
  return task?.state === 'queued' && why !== undefined ? { kind: 'held', detail: why } : undefined
}
