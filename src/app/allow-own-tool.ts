/**
 * A call of CAO's own tools is allowed before it is made, so that an agent can report at night. A CLI that can not be told so
 * asks each time; where its provider knows such a question for certain, CAO answers it, and nobody is told of it.
 */
import type { Waiting } from '../async/wait.ts'
import type { Question } from '../domain/question.ts'
import { type AppContext, requireRuntime } from './context.ts'
import { answerQuestion } from './questions.ts'
import { tellOfQuestion } from './tell-caller.ts'

export function takeQuestion(context: AppContext, question: Question): void {
  const { terminalId } = question
  const { provider } = requireRuntime(context, terminalId)
  const answer = question.reason === 'permission' ? provider.ownToolAnswer?.(question) : undefined
  if (answer === undefined) return tellOfQuestion(context, question)
  context.scope.spawn(`own tool of ${terminalId}`, (signal) => allow(context, { question, answer }, { signal }))
}

type Own = { readonly question: Question; readonly answer: string }

/** Where it can not be answered it is a question to the person as any other. */
async function allow(context: AppContext, { question, answer }: Own, waiting: Waiting): Promise<void> {
  const { id: questionId, terminalId } = question
  try {
    await answerQuestion(context, { terminalId, questionId, answer, by: { kind: 'person' }, author: 'cao' }, waiting)
  } catch (error) {
    if (waiting.signal.aborted) throw error
    context.log.write('warn', 'a call of an own tool was not allowed', { terminalId, questionId, error: String(error) })
    tellOfQuestion(context, question)
  }
}
