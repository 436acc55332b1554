/**
 * The question that one agent asks now, as a row: opened when it is seen first, closed once with how it ended. A question
 * that CAO answers is answered by whoever gave that answer; what the program's own channel tells to be closed was answered
 * at the pane; where only the screen tells, the clients that look at the pane are asked whether anybody was there.
 */
import { makeQuestionId, type QuestionId } from '../domain/ids.ts'
import type { Question, QuestionClosing } from '../domain/question.ts'
import type { QuestionText, WaitingReason } from '../domain/status.ts'
import type { StatusState } from '../domain/status-reducer.ts'
import type { Terminal } from '../domain/terminal.ts'
import { findOperation, type OperationRule } from '../providers/provider.ts'
import type { Change, TerminalWatch } from '../status/terminal-watch.ts'
import type { CoreContext } from './core-context.ts'

export type OpenQuestionParts = {
  readonly row: Terminal
  readonly watch: TerminalWatch
  readonly operations: readonly OperationRule[] | undefined
  readonly onAsked: (question: Question) => void
  /** A key that interrupts was pressed through CAO a moment ago. */
  readonly isInterrupting: () => boolean
  /** Calls back with the clients that were used since then, without waiting for it; never throws. */
  readonly whoTyped: (sinceMs: number, then: (clients: readonly string[]) => void) => void
}
export type GivenAnswer = { readonly questionId: QuestionId; readonly answer: string; readonly by: string }

export class OpenQuestion {
  readonly #context: CoreContext
  readonly #parts: OpenQuestionParts
  #id: QuestionId | undefined
  /** Its keys are being pressed. */
  #given: GivenAnswer | undefined

  constructor(context: CoreContext, parts: OpenQuestionParts) {
    this.#context = context
    this.#parts = parts
    this.#id = context.store.questions.listOpen(parts.row.id)[0]?.id
  }

  get id(): QuestionId | undefined {
    return this.#id
  }

  /** Before its keys are pressed: the end may be told before the last of them is. Undefined: they were not. */
  noteGiven(given: GivenAnswer | undefined): void {
    this.#given = given
  }

  track(after: StatusState, { evidence }: Change): void {
    const { store, clock, events, random } = this.#context
    const { row, onAsked } = this.#parts
    if (after.status !== 'waiting_user_answer') return this.#noteOver(after, evidence)
    if (evidence.claim.kind !== 'waiting' || this.#isAnsweredByUs()) return
    const { reason } = evidence.claim
    const question = this.#describe(reason, evidence.claim.question)
    // The same question seen again, as after a restart: who was told its id may answer it by that.
    const open = this.#id === undefined ? undefined : store.questions.find(this.#id)
    if (open !== undefined && isSameQuestion(open, question)) return
    this.#end({ state: 'overtaken', detail: 'the agent asked something else' })
    const id = makeQuestionId(random)
    const { asked, event } = store.transaction(() => {
      const opened = { id, terminalId: row.id, reason, openedAtMs: clock.nowMs(), ...question }
      const { text, options, operation } = question
      const body = { type: 'question.opened', questionId: id, terminalId: row.id, text, options, operation } as const
      return { asked: store.questions.insert(opened), event: store.events.append(body, clock.nowMs()) }
    })
    this.#id = id
    events.announce(event)
    onAsked(asked)
  }

  #describe(reason: WaitingReason, question: QuestionText): QuestionText {
    const { operations = [] } = this.#parts
    if (reason !== 'permission' || question.operation !== undefined) return question
    return { ...question, operation: findOperation(operations, question.text) }
  }

  /** Closes the open question, if there is one. */
  close(closing: QuestionClosing): void {
    const id = this.#id
    this.#id = undefined
    if (id !== undefined) this.#closeRow(id, closing)
  }

  #noteOver(after: StatusState, evidence: Change['evidence']): void {
    // What nobody sees may still be asked.
    if (after.status === 'unknown') return
    const { claim, source, raw } = evidence
    if (claim.kind === 'exited' || claim.kind === 'lost') return this.#end(expired)
    if (this.#parts.isInterrupting())
      return this.#end({ state: 'overtaken', detail: 'an interrupt through CAO closed it' })
    if (claim.kind === 'question_closed' && source !== 'screen') {
      return this.#end({ state: 'answered', by: 'pane', detail: `its program took an answer (${source}: ${raw})` })
    }
    const id = this.#id
    const { openedAtMs } = (id === undefined ? undefined : this.#context.store.questions.find(id)) ?? {}
    if (id === undefined || openedAtMs === undefined || this.#given?.questionId === id) return this.#end(wentOn)
    this.#id = undefined
    this.#parts.whoTyped(openedAtMs, (clients) => {
      const detail = `the prompt is gone, and somebody was at the attached client ${clients.join(', ')}`
      this.#closeRow(id, clients.length > 0 ? { state: 'answered', by: 'pane', detail } : wentOn)
    })
  }

  #end(closing: QuestionClosing): void {
    const given = this.#given
    const isGiven = given !== undefined && given.questionId === this.#id
    this.close(isGiven ? { state: 'answered', answer: given.answer, by: given.by } : closing)
  }

  #closeRow(id: QuestionId, closing: QuestionClosing): void {
    const { store, clock, events } = this.#context
    const atMs = clock.nowMs()
    const event = store.transaction(() => {
      if (!store.questions.close(id, atMs, closing)) return undefined
      const { state, answer, by, detail } = closing
      const terminalId = this.#parts.row.id
      return store.events.append(
        { type: 'question.closed', questionId: id, terminalId, state, answer, by, detail },
        atMs,
      )
    })
    if (event !== undefined) events.announce(event)
  }

  /** A dialog of the start that CAO answers itself (await-ready.ts) is nobody's question. */
  #isAnsweredByUs(): boolean {
    const { watch, row } = this.#parts
    const dialog = watch.lastSeen?.reading.dialog
    if (dialog?.answer === undefined) return false
    return dialog.directory === undefined || dialog.directory === row.workingDirectory
  }
}

export const expired: QuestionClosing = { state: 'expired', detail: 'its agent has ended' }
const wentOn: QuestionClosing = { state: 'overtaken', detail: 'the agent went on, and no answer was seen' }

const plain = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

/** Sources write the same text with other line ends; a vendor's ids decide where both are known. */
function isSameQuestion(open: Question, seen: Pick<Question, 'text' | 'vendorId'>): boolean {
  if (open.vendorId !== undefined && seen.vendorId !== undefined) return open.vendorId === seen.vendorId
  return plain(open.text) === plain(seen.text)
}
