/** Open questions of agents on the wire, and the answer that names one. */
import { z } from 'zod'
import { type Question, type QuestionState, questionStates } from '../domain/question.ts'
import { numberField, optional, timeField, toTime, toTimeOrNull } from './fields.ts'

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
    state: z.enum(questionStates),
    answered_by: z.string().nullable().describe('Who answered: as the author of a message, or `pane`'),
    /** Why it stands as it stands. */
    detail: z.string().nullable(),
    /** What it would do, where the program says so. */
    operation: z
      .object({ kind: z.enum(['command', 'file', 'tool']), what: z.string(), directory: z.string().nullable() })
      .nullable(),
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
/** Of the lists: open ones when no state is named. */
export const questionsQuery = z.object({
  state: optional(z.enum([...questionStates, 'all'])),
  limit: numberField(z.number().int().min(1).max(500)).default(100),
})
export type QuestionsFilter = { readonly state?: QuestionState | 'all'; readonly limit?: number }
export type AnswerParams = z.input<typeof answerBody>

function toOperationBody(operation: Question['operation']): QuestionBody['operation'] {
  return operation === undefined ? null : { ...operation, directory: operation.directory ?? null }
}

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
    state: question.state,
    answered_by: question.answeredBy ?? null,
    detail: question.detail ?? null,
    operation: toOperationBody(question.operation),
  }
}
