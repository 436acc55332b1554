/** Questions that agents have put, and answers to them. */
import { z } from 'zod'
import type { LookAtQuestions } from '../../app/actor.ts'
import type { QuestionId } from '../../domain/ids.ts'
import { questionStates } from '../../domain/question.ts'
import { answerBody, answeredSchema, questionSchema, questionsQuery, toQuestionBody } from '../../protocol/question.ts'
import { authorOf } from '../access.ts'
import { actionWaiting } from '../context.ts'
import { terminalIdPart } from '../path-parts.ts'
import { route } from '../route.ts'

function toLook({ state, limit }: z.output<typeof questionsQuery>): Pick<LookAtQuestions, 'states' | 'limit'> {
  if (state === undefined) return {}
  return { states: state === 'all' ? questionStates : [state], limit }
}

export const questionRoutes = [
  route({
    at: 'GET /questions',
    summary: 'The questions of all agents, those that are open when no state is named',
    description: 'Open ones come oldest first, of a named state the newest first.',
    access: 'person',
    params: questionsQuery,
    answer: z.array(questionSchema),
    handle: ({ app, params }) => app.listQuestions(toLook(params)).map(toQuestionBody),
  }),
  route({
    at: 'GET /terminals/:id/questions',
    summary: 'The questions of one agent, those that are open when no state is named',
    description: 'An agent that reads them has been shown them.',
    access: 'reach',
    path: { id: terminalIdPart },
    params: questionsQuery,
    answer: z.array(questionSchema),
    handle: ({ app, actor, path, params }) =>
      app.listQuestions({ ...toLook(params), terminalId: path.id, viewer: actor }).map(toQuestionBody),
  }),
  route({
    at: 'POST /terminals/:id/answer',
    summary: 'Answers a question of an agent: by the text or number of an option, or in free text',
    description:
      'Without `question_id` there must be exactly one open question, and an agent that answers must have been shown it. What an agent may answer stands ' +
      'in the profile of the one that asks (`supervisorMayAnswer`): by default its questions, and no permission.',
    access: 'command',
    errors: ['BAD_REQUEST', 'CONFLICT', 'BLOCKED'],
    path: { id: terminalIdPart },
    params: answerBody,
    answer: answeredSchema,
    handle: async ({ app, c, actor, path, params: { answer, question_id } }) => {
      const questionId = question_id as QuestionId | undefined
      const request = { terminalId: path.id, answer, questionId, by: actor, author: authorOf(actor, c) }
      return { success: true as const, ...toQuestionBody(await app.answerQuestion(request, actionWaiting())) }
    },
  }),
]
