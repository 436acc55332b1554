/** `cao questions`: what agents wait to be told, and the answer to one of them, by its id. */
import { AppError } from '../domain/errors.ts'
import type { QuestionBody } from '../protocol/question.ts'
import { cleanLine } from './clean-text.ts'
import type { Call, Command } from './command.ts'
import { flagOption, takePositionals, textOption } from './parse-call.ts'
import { printJson, printLine } from './print.ts'

const usage = `cao questions [list] [--state STATE] [--terminal TERMINAL] [--json]
       cao questions answer QUESTION ANSWER [--json]

  list     the questions that are open, oldest first, with what each would do
  answer   gives the text or the number of an option, or free text where the question takes it

  --state STATE  those that are open, answered, expired (their agent has ended), overtaken (it went on), or all`

export const questionsCommand: Command = {
  usage,
  options: { state: { type: 'string' }, terminal: { type: 'string' } },
  takesText: true,
  async run(call) {
    const [verb, ...rest] = call.positionals
    if (verb === 'answer') await answer({ ...call, positionals: rest })
    else if (verb === undefined || verb === 'list') await list({ ...call, positionals: rest })
    else throw new AppError('BAD_REQUEST', `cao questions does not know ${JSON.stringify(verb)}; it is list or answer`)
    return 0
  },
}

const states = ['open', 'answered', 'expired', 'overtaken', 'all'] as const

async function list({ options, positionals, context }: Call): Promise<void> {
  takePositionals(positionals, [])
  const given = textOption(options, 'state')
  const state = states.find((each) => each === given)
  if (given !== undefined && state === undefined) {
    throw new AppError('BAD_REQUEST', `--state takes ${states.join(', ')}, and not ${JSON.stringify(given)}`)
  }
  const client = await context.openClient()
  const how = { signal: context.signal, ...(state === undefined ? {} : { query: { state } }) }
  const questions = await client.listQuestions(textOption(options, 'terminal'), how)
  if (flagOption(options, 'json')) return printJson(context, questions)
  if (questions.length === 0) return printLine(context, state === undefined ? 'no agent waits for an answer' : 'none')
  for (const question of questions) await printLine(context, formatQuestion(question))
}

async function answer({ options, positionals, context }: Call): Promise<void> {
  const { QUESTION: id = '', ANSWER: text = '' } = takePositionals(positionals, ['QUESTION', 'ANSWER'])
  const client = await context.openClient()
  const asked = await client.listQuestions(undefined, { signal: context.signal, query: { state: 'all', limit: 500 } })
  const question = asked.find((each) => each.id === id)
  if (question === undefined)
    throw new AppError('NOT_FOUND', `there is no question ${cleanLine(id)}; "cao questions" lists them`)
  const params = { answer: text, question_id: id }
  const answered = await client.answerQuestion(question.terminal_id, params, { signal: context.signal })
  if (flagOption(options, 'json')) await printJson(context, answered)
  else await printLine(context, `${id} is ${answered.state}: ${cleanLine(answered.answer ?? '')}`)
}

/** Pure. */
export function formatQuestion(question: QuestionBody): string {
  const { id, terminal_id, reason, text, options, state, answered_by, answer, detail, operation } = question
  const where = operation?.directory ? ` in ${cleanLine(operation.directory)}` : ''
  const end = [answered_by === null ? '' : ` by ${answered_by}`, answer === null ? '' : `: ${cleanLine(answer)}`].join(
    '',
  )
  return [
    `${id}  ${terminal_id}  ${reason}  ${state}${end}${detail === null ? '' : ` (${cleanLine(detail)})`}`,
    `  ${cleanLine(text)}`,
    ...(operation === null ? [] : [`  would do (${operation.kind}${where}): ${cleanLine(operation.what)}`]),
    ...options.map((option, index) => `  ${index + 1}. ${cleanLine(option)}`),
  ].join('\n')
}
