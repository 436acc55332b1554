/** Open questions of agents on the wire, and the answer that names one. */
import { z } from 'zod'
import type { Question } from '../domain/question.ts'
import { optional, timeField, toTime, toTimeOrNull } from './fields.ts'

/** As upstream: longer texts are messages, not answers. */
export const answerLengthMax = 4_000

export const questionSchema = z
  .object({
    id: z.string(),
    terminal_id: z.string(),
    reason: z.enum(['permission', 'question', 'trust', 'login', 'update']),
    text: z.string(),
    options: z.array(z.string()),
    opened_at: timeField,
    closed_at: timeField.nullable(),
    answer: z.string().nullable(),
  })
  .meta({ id: 'Question' })
export type QuestionBody = z.infer<typeof questionSchema>
export const answeredSchema = questionSchema.extend({ success: z.literal(true) }).meta({ id: 'AnsweredQuestion' })

export const answerBody = z.object({
  answer: z.string().min(1).max(answerLengthMax).describe('Text or number of an option, or free text'),
  question_id: optional(
    z
      .string()
      .max(10)
      .regex(/^q-[a-f0-9]{8}$/, 'must look like q-1a2b3c4d'),
  ),
})
export type AnswerParams = z.input<typeof answerBody>

export function toQuestionBody(question: Question): QuestionBody {
  return {
    id: question.id,
    terminal_id: question.terminalId,
    reason: question.reason,
    text: question.text,
    options: [...question.options],
    opened_at: toTime(question.openedAtMs),
    closed_at: toTimeOrNull(question.closedAtMs),
    answer: question.answer ?? null,
  }
}
