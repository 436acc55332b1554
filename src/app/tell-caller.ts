/**
 * A worker that asks waits for somebody: its caller is told, with the text, the options and how to answer. One that
 * waits inside a handoff could not act on it, and is told in the progress and at the end of that call.
 */
import { type AnswerRight, mayAgentAnswer } from '../domain/answer-policy.ts'
import { isJobOpen } from '../domain/job.ts'
import type { Question } from '../domain/question.ts'
import type { AppContext } from './context.ts'
import { queueMessage } from './mailbox.ts'
import { findAnswerRules } from './questions.ts'

/** In the background: who may answer stands in the worker's profile, which is a file. */
export function tellOfQuestion(context: AppContext, question: Question): void {
  context.scope.spawn(`telling of ${question.id}`, async () => {
    const rules = await findAnswerRules(context, question.terminalId)
    queueNotice(context, question, mayAgentAnswer(question, rules))
  })
}

function queueNotice(context: AppContext, question: Question, right: AnswerRight): void {
  const { store, log } = context
  const worker = store.terminals.find(question.terminalId)
  const caller = worker?.callerId === undefined ? undefined : store.terminals.find(worker.callerId)
  if (worker === undefined || caller?.life !== 'live') return
  const isWaitedFor = store.jobs
    .listForWorker(worker.id)
    .some(
      (job) =>
        isJobOpen(job) && job.kind === 'handoff' && job.callerId === caller.id && job.request.isUnattended !== true,
    )
  if (isWaitedFor) return
  if (store.questions.find(question.id)?.state !== 'open') return
  const options = question.options.map((option, index) => `${index + 1}. ${option}`)
  const body = [
    `Your worker ${worker.profileName} (${worker.id}) waits for an answer (${question.reason}, ${question.id}):`,
    question.text,
    ...describeOperation(question),
    ...options,
    right.kind === 'allowed'
      ? `If it is still open, answer it with answer_user_prompt and question_id ${question.id}; do not approve what you would not do yourself.`
      : `It is not yours to answer: ${right.why}. The person has been told.`,
  ].join('\n')
  try {
    store.transaction(() => {
      const notice = { kind: 'notice', senderId: 'cao', receiverId: caller.id, body, jobId: undefined } as const
      store.questions.setNotice(question.id, queueMessage(context, notice).id)
    })
  } catch (error) {
    log.write('warn', 'caller not told of a question', { questionId: question.id, error: String(error) })
  }
}

function describeOperation({ operation, text }: Question): readonly string[] {
  if (operation === undefined) return []
  const { kind, what, directory } = operation
  const where = directory === undefined ? '' : ` in ${directory}`
  return text.includes(what) && where === '' ? [] : [`It would do (${kind}${where}): ${what}`]
}
