/** Questions that agents have put, and answers to them. */
import { z } from 'zod'
import type { QuestionId } from '../../domain/ids.ts'
import { answerBody, answeredSchema, questionSchema, toQuestionBody } from '../../protocol/question.ts'
import { actionWaiting } from '../context.ts'
import { terminalIdPart } from '../path-parts.ts'
import { route } from '../route.ts'

export const questionRoutes = [
  route({
    at: 'GET /questions',
    summary: 'The open questions of all agents',
    access: 'person',
    answer: z.array(questionSchema),
    handle: ({ app }) => app.listQuestions().map(toQuestionBody),
  }),
  route({
    at: 'GET /terminals/:id/questions',
    summary: 'The open questions of one agent',
    access: 'reach',
    path: { id: terminalIdPart },
    answer: z.array(questionSchema),
    handle: ({ app, path }) => app.listQuestions(path.id).map(toQuestionBody),
  }),
  route({
    at: 'POST /terminals/:id/answer',
    summary: 'Answers a question of an agent: by the text or number of an option, or in free text',
    description: 'Without `question_id` there must be exactly one open question.',
    access: 'command',
    errors: ['BAD_REQUEST', 'CONFLICT', 'BLOCKED'],
    path: { id: terminalIdPart },
    params: answerBody,
    answer: answeredSchema,
    handle: async ({ app, path, params: { answer, question_id } }) => {
      const question = await app.answerQuestion(path.id, answer, question_id as QuestionId | undefined, actionWaiting())
      return { success: true as const, ...toQuestionBody(question) }
    },
  }),
]
