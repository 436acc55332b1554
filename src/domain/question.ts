/** A question that an agent has put to its person or supervisor, as a durable row. */
import type { QuestionId, TerminalId } from './ids.ts'
import type { WaitingReason } from './status.ts'

export type Question = {
  readonly id: QuestionId
  readonly terminalId: TerminalId
  readonly reason: WaitingReason
  readonly text: string
  readonly options: readonly string[]
  readonly vendorId: string | undefined
  readonly openedAtMs: number
  readonly closedAtMs: number | undefined
  /** What was answered through CAO; undefined when it closed by itself or by a person at the pane. */
  readonly answer: string | undefined
}
