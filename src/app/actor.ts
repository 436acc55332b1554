/** Who asks, and what of the questions of agents. */
import type { QuestionId, TerminalId } from '../domain/ids.ts'
import type { QuestionState } from '../domain/question.ts'

/** Who asks. A terminal acts only as itself; a person (CLI, browser) may do everything. */
export type Actor =
  | {
      readonly kind: 'person'
      /** Came with the read-only token; the server's table of rights holds it to that. */
      readonly mayOnlyRead?: boolean
    }
  | { readonly kind: 'terminal'; readonly id: TerminalId }

export type LookAtQuestions = {
  readonly terminalId?: TerminalId
  /** Undefined: open ones. */
  readonly states?: readonly QuestionState[]
  readonly limit?: number
  readonly viewer?: Actor
}
export type AnswerQuestion = {
  readonly terminalId: TerminalId
  readonly answer: string
  readonly questionId: QuestionId | undefined
  readonly by: Actor
  /** As the author of a message. */
  readonly author: string
}
