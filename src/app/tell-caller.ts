/**
 * A worker that asks waits for somebody: its caller is told, with the text, the options and how to answer. One that
 * waits inside a handoff could not act on it, and is told at the end of that call.
 */
import { isJobOpen } from '../domain/job.ts'
import type { Question } from '../domain/question.ts'
import type { AppContext } from './context.ts'
import { queueMessage } from './mailbox.ts'

export function tellOfQuestion(context: AppContext, question: Question): void {
  const { store, log } = context
  const worker = store.terminals.find(question.terminalId)
  const caller = worker?.callerId === undefined ? undefined : store.terminals.find(worker.callerId)
  if (worker === undefined || caller?.life !== 'live') return
  const isWaitedFor = store.jobs
    .listForWorker(worker.id)
    .some((job) => isJobOpen(job) && job.kind === 'handoff' && job.callerId === caller.id)
  if (isWaitedFor) return
  const options = question.options.map((option, index) => `${index + 1}. ${option}`)
  const body = [
    `Your worker ${worker.profileName} (${worker.id}) waits for an answer (${question.reason}, ${question.id}):`,
    question.text,
    ...options,
    'If it is still open, answer it with answer_user_prompt; do not approve what you would not do yourself.',
  ].join('\n')
  try {
    queueMessage(context, { kind: 'notice', senderId: 'cao', receiverId: caller.id, body, jobId: undefined })
  } catch (error) {
    log.write('warn', 'caller not told of a question', { questionId: question.id, error: String(error) })
  }
}
