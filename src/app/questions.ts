/** What agents ask, and how an answer reaches them: by key strokes that the provider plans for the present screen. */
import { sleep, type Waiting } from '../async/wait.ts'
import { mayAgentAnswer } from '../domain/answer-policy.ts'
import { toMessageStatus } from '../domain/delivery.ts'
import { AppError } from '../domain/errors.ts'
import type { TerminalId } from '../domain/ids.ts'
import type { Question } from '../domain/question.ts'
import type { Snapshot } from '../screen/snapshot.ts'
import type { Actor, AnswerQuestion, LookAtQuestions } from './actor.ts'
import { type AppContext, requireRuntime, requireTerminal } from './context.ts'
import type { Runtime } from './runtime.ts'

export const answerLengthMax = 4_000
/** Between two looks while an answer is given in steps, and how many there are at most. */
const answerLookMs = 100
const answerLooksMax = 50
/** A program may tell of a question before it has drawn it: until then the screen can not refuse an answer. Units: ms. */
const drawnWithinMs = 2_000

/** Of one list that names no number. */
const listedDefault = 100

export function listQuestions(context: AppContext, look: LookAtQuestions): readonly Question[] {
  const { terminalId, states, limit = listedDefault, viewer } = look
  const { questions } = context.store
  if (terminalId !== undefined) requireTerminal(context, terminalId)
  const named = terminalId === undefined ? {} : { terminalId }
  const found = states === undefined ? questions.listOpen(terminalId) : questions.list({ states, limit, ...named })
  if (viewer?.kind === 'terminal') for (const { id } of found) questions.noteShown(id, viewer.id)
  return found
}

/** Errors: BAD_REQUEST, NOT_FOUND, FORBIDDEN (not for an agent), CONFLICT (none open, or another one), BLOCKED (the pane takes no input). */
export async function answerQuestion(
  context: AppContext,
  request: AnswerQuestion,
  waiting: Waiting,
): Promise<Question> {
  const { terminalId, answer, author: by } = request
  if (answer === '' || answer.length > answerLengthMax) {
    throw new AppError('BAD_REQUEST', `an answer has 1 to ${answerLengthMax} characters`)
  }
  const runtime = requireRuntime(context, terminalId)
  const question = requireOpenQuestion(context, request)
  await requireRight(context, question, request.by)
  const { clock } = context
  const standsAtMs = question.openedAtMs + (runtime.provider.quirks.dialogSettleMs ?? 0)
  await sleep(clock, Math.max(standsAtMs - clock.nowMs(), 0), waiting.signal)
  runtime.question.noteGiven({ questionId: question.id, answer, by })
  try {
    await pressAnswer(context, runtime, { question, answer }, waiting)
  } finally {
    runtime.question.noteGiven(undefined)
  }
  if (runtime.question.id === question.id) runtime.question.close({ state: 'answered', answer, by })
  return context.store.questions.find(question.id) ?? question
}

/** A person may answer everything, an agent what the profile of the asking agent leaves to it. Errors: FORBIDDEN. */
async function requireRight(context: AppContext, question: Question, by: Actor): Promise<void> {
  if (by.kind === 'person') return
  const right = mayAgentAnswer(question, await findAnswerRules(context, question.terminalId))
  if (right.kind === 'allowed') return
  const how = `\`cao questions answer ${question.id} ANSWER\``
  throw new AppError(
    'FORBIDDEN',
    `question ${question.id} waits for the person: ${right.why}. They answer it with ${how}`,
  )
}

/** Undefined: the usual ones, also where its profile can not be read any more. */
export async function findAnswerRules(context: AppContext, id: TerminalId): Promise<readonly string[] | undefined> {
  const name = context.store.terminals.find(id)?.profileName
  try {
    return name === undefined ? undefined : (await context.profiles.load(name)).supervisorMayAnswer
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return undefined
  }
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
    const said = await runtime.watch.signals.answer?.(question, answer, waiting)
    if (said?.kind === 'given') return 'all'
    if (said?.kind === 'refused') throw new AppError('BAD_REQUEST', said.why, { data: { options: question.options } })
    if (clock.nowMs() < question.openedAtMs + drawnWithinMs) return 'nothing yet'
    throw new AppError('BAD_REQUEST', plan.why, { data: { options: question.options } })
  }
  const outcome = await runtime.press(plan.keys, waiting)
  if (outcome.kind === 'refused') throw new AppError('BLOCKED', `terminal ${id} takes no input: ${outcome.reason}`)
  return plan.isPartial === true ? 'some' : 'all'
}

function requireOpenQuestion(context: AppContext, { terminalId, questionId, by }: AnswerQuestion): Question {
  const open = context.store.questions.listOpen(terminalId)
  if (questionId !== undefined) {
    const named = open.find((question) => question.id === questionId)
    if (named !== undefined) return named
    const known = context.store.questions.find(questionId)
    if (known?.terminalId !== terminalId)
      throw new AppError('NOT_FOUND', `terminal ${terminalId} has no question ${questionId}`)
    throw new AppError('CONFLICT', describeClosed(known))
  }
  const [only, ...others] = open
  if (only === undefined) throw new AppError('CONFLICT', `terminal ${terminalId} has no open question`)
  if (others.length > 0)
    throw new AppError('CONFLICT', `terminal ${terminalId} has several open questions; name one by its id`)
  if (by.kind === 'terminal' && !wasShown(context, only, by.id)) {
    const look = 'look at it first, and name it by its id'
    throw new AppError(
      'CONFLICT',
      `question ${only.id} of terminal ${terminalId} was not shown to ${by.id} yet: ${look}`,
    )
  }
  return only
}

/** It was listed for that agent, or that agent has taken the message that tells of it. */
function wasShown({ store }: AppContext, { id, noticeId }: Question, to: TerminalId): boolean {
  const notice = noticeId === undefined ? undefined : store.messages.find(noticeId)
  const isTold = notice?.receiverId === to && toMessageStatus(notice.state) === 'delivered'
  return isTold || store.questions.isShownTo(id, to)
}

function describeClosed({ id, state, answeredBy, answer, detail }: Question): string {
  const by = answeredBy === undefined ? '' : ` by ${answeredBy}`
  const how = answer === undefined ? (detail ?? '') : JSON.stringify(answer)
  return `question ${id} is closed already: ${state}${by}${how === '' ? '' : ` (${how})`}`
}
