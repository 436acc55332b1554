/** What agents ask, and how an answer reaches them: by key strokes that the provider plans for the present screen. */
import { sleep, type Waiting } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import type { QuestionId, TerminalId } from '../domain/ids.ts'
import type { Question } from '../domain/question.ts'
import type { Snapshot } from '../screen/snapshot.ts'
import { type AppContext, requireRuntime, requireTerminal } from './context.ts'
import type { Runtime } from './runtime.ts'

export const answerLengthMax = 4_000
/** Between two looks while an answer is given in steps, and how many there are at most. */
const answerLookMs = 100
const answerLooksMax = 50
/** A program may tell of a question before it has drawn it: until then the screen can not refuse an answer. Units: ms. */
const drawnWithinMs = 2_000

export function listQuestions(context: AppContext, terminalId: TerminalId | undefined): readonly Question[] {
  if (terminalId !== undefined) requireTerminal(context, terminalId)
  return context.store.questions.listOpen(terminalId)
}

export type AnswerQuestion = {
  readonly terminalId: TerminalId
  readonly answer: string
  readonly questionId: QuestionId | undefined
}

/** Errors: BAD_REQUEST, NOT_FOUND, CONFLICT (none open, or another one), BLOCKED (the pane takes no input). */
export async function answerQuestion(
  context: AppContext,
  request: AnswerQuestion,
  waiting: Waiting,
): Promise<Question> {
  const { terminalId, answer, questionId } = request
  if (answer === '' || answer.length > answerLengthMax) {
    throw new AppError('BAD_REQUEST', `an answer has 1 to ${answerLengthMax} characters`)
  }
  const runtime = requireRuntime(context, terminalId)
  const question = requireOpenQuestion(context, terminalId, questionId)
  const { clock } = context
  const standsAtMs = question.openedAtMs + (runtime.provider.quirks.dialogSettleMs ?? 0)
  await sleep(clock, Math.max(standsAtMs - clock.nowMs(), 0), waiting.signal)
  await pressAnswer(context, runtime, { question, answer }, waiting)
  runtime.closeQuestion(answer)
  return context.store.questions.find(question.id) ?? question
}

type Given = { readonly question: Question; readonly answer: string }

/** What is on the screen now decides the keys: the question may have gone while the answer was thought about. */
async function pressAnswer(context: AppContext, runtime: Runtime, given: Given, waiting: Waiting): Promise<void> {
  const { id } = runtime.row
  let pressedOn: string | undefined
  for (let looks = 0; looks < answerLooksMax; looks++) {
    const seen = await runtime.watch.look(waiting)
    if (seen === 'gone') throw new AppError('BLOCKED', `terminal ${id} is gone`)
    const lines = seen.snapshot.lines.join('\n')
    if (lines !== pressedOn) {
      const pressed = await pressStep(context, runtime, { ...given, snapshot: seen.snapshot }, waiting)
      if (pressed === 'all') return
      if (pressed === 'some') pressedOn = lines
    }
    await sleep(context.clock, answerLookMs, waiting.signal)
  }
  throw new AppError('BLOCKED', `terminal ${id} did not follow the keys of the answer; look at its pane`)
}

/** Presses as much of the answer as can be given on this screen. Errors: CONFLICT, BAD_REQUEST, BLOCKED. */
async function pressStep(
  { clock }: AppContext,
  runtime: Runtime,
  { question, answer, snapshot }: Given & { readonly snapshot: Snapshot },
  waiting: Waiting,
): Promise<'all' | 'some' | 'nothing yet'> {
  const { id } = runtime.row
  if (runtime.state.status !== 'waiting_user_answer') {
    throw new AppError('CONFLICT', `terminal ${id} no longer waits for an answer (${runtime.state.status})`)
  }
  const plan = runtime.provider.planAnswer(question, answer, snapshot)
  if (plan.kind === 'refused') {
    if (clock.nowMs() < question.openedAtMs + drawnWithinMs) return 'nothing yet'
    throw new AppError('BAD_REQUEST', plan.why, { data: { options: question.options } })
  }
  const outcome = await runtime.press(plan.keys, waiting)
  if (outcome.kind === 'refused') throw new AppError('BLOCKED', `terminal ${id} takes no input: ${outcome.reason}`)
  return plan.isPartial === true ? 'some' : 'all'
}

function requireOpenQuestion(
  context: AppContext,
  terminalId: TerminalId,
  questionId: QuestionId | undefined,
): Question {
  const open = context.store.questions.listOpen(terminalId)
  if (questionId !== undefined) {
    const named = open.find((question) => question.id === questionId)
    if (named !== undefined) return named
    const known = context.store.questions.find(questionId)
    if (known?.terminalId !== terminalId)
      throw new AppError('NOT_FOUND', `terminal ${terminalId} has no question ${questionId}`)
    throw new AppError('CONFLICT', `question ${questionId} is closed already`)
  }
  const [only, ...others] = open
  if (only === undefined) throw new AppError('CONFLICT', `terminal ${terminalId} has no open question`)
  if (others.length > 0)
    throw new AppError('CONFLICT', `terminal ${terminalId} has several open questions; name one by its id`)
  return only
}
