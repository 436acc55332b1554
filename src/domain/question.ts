/** A question that an agent has put to its person or supervisor, as a durable row. It is closed once, and says how. */
import type { MessageId, QuestionId, TerminalId } from './ids.ts'
import type { Operation, WaitingReason } from './status.ts'

/**
 * `answered`: through CAO, or by somebody at the pane. `expired`: the agent ended, nobody can answer any more.
 * `overtaken`: the agent went on without an answer that was seen, or asked something else.
 */
export const questionStates = ['open', 'answered', 'expired', 'overtaken'] as const
export type QuestionState = (typeof questionStates)[number]

export type Question = {
  readonly id: QuestionId
  readonly terminalId: TerminalId
  readonly reason: WaitingReason
  readonly text: string
  readonly options: readonly string[]
  readonly vendorId: string | undefined
  /** What it would do, where the program says so. */
  readonly operation?: Operation | undefined
  readonly openedAtMs: number
  readonly state: QuestionState
  readonly closedAtMs: number | undefined
  /** What was answered through CAO. */
  readonly answer: string | undefined
  /** `person`, the id of an agent, or `pane`: somebody at the agent's terminal. */
  readonly answeredBy: string | undefined
  /** Why it stands as it stands. */
  readonly detail: string | undefined
  /** The message by which the agent's caller was told. */
  readonly noticeId: MessageId | undefined
}

export type QuestionClosing = {
  readonly state: Exclude<QuestionState, 'open'>
  readonly answer?: string | undefined
  readonly by?: string | undefined
  readonly detail?: string | undefined
}
