/**
 * What the scripted model answers: pure, from the request alone. It holds no state of its own, as a real model:
 * the conversation is replayed from its start, so a program that was restarted or resumed gets the same answers.
 */
import { fillInArgs, type Remembered, renderText } from '../rules/fill-in.ts'
import { bodiesOf, bodyOf, echoOf } from '../rules/message.ts'
import { type JsonObject, parseCall, parseNumber, parseQuestion, parseRules, type Step } from '../rules/rules.ts'
import { longText, markdownText, unicodeText } from '../rules/texts.ts'
import { floodText, imitationText, wordAt } from './canned.ts'
import {
  cleanUserText,
  findQuestionTool,
  findShellTool,
  findTool,
  type ModelRequest,
  questionArguments,
  sampleAnswer,
  shellArguments,
  type Tool,
} from './conversation.ts'

/** One thing to do while answering. */
export type Act =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'pause'; readonly ms: number }
  | { readonly kind: 'call'; readonly tool: string; readonly args: JsonObject }
  /** The connection breaks. */
  | { readonly kind: 'drop' }
  /** Nothing more comes, the connection stays. */
  | { readonly kind: 'hang' }

export type Answer =
  | { readonly kind: 'acts'; readonly acts: readonly Act[] }
  /** `limitS`: the answer says that it is over in so many seconds. */
  | { readonly kind: 'error'; readonly httpStatus: number; readonly limitS?: number }

const ownAnswer = 'Scripted title'
const endsAnswer: ReadonlySet<Step['verb']> = new Set(['reply', 'tool', 'call', 'ask', 'collect', 'hang', 'crash'])

type Collecting = { readonly needed: number; readonly rest: readonly Step[] }

/** Where a conversation stands between two answers. */
type Progress = {
  readonly steps: readonly Step[]
  readonly results: readonly string[]
  readonly messages: readonly string[]
  readonly collecting: Collecting | undefined
}

const fresh: Progress = { steps: [], results: [], messages: [], collecting: undefined }

/** The answer to `request`. Requests without tools are the CLI's own (titles, summaries) and get a short constant. */
export function planAnswer(request: ModelRequest): Answer {
  if (request.tools.length === 0) {
    const { answerSchema } = request
    const text = answerSchema === undefined ? ownAnswer : sampleAnswer(answerSchema, ownAnswer)
    return { kind: 'acts', acts: [{ kind: 'text', text }] }
  }
  const progress = replay(request)
  const steps = progress.steps.slice(0, firstEnd(progress.steps))
  const error = steps.find((step) => step.verb === 'error' || step.verb === 'limit')
  if (error?.verb === 'limit') return { kind: 'error', httpStatus: 429, limitS: Number(error.rest) }
  if (error !== undefined) return { kind: 'error', httpStatus: parseNumber(error.rest, 500) }
  const acts = steps.flatMap((step) => actsOf(step, request.tools, progress))
  return { kind: 'acts', acts: acts.length === 0 ? [{ kind: 'text', text: 'Done.' }] : acts }
}

/** How many steps one answer takes: up to and with the first that ends it. */
function firstEnd(steps: readonly Step[]): number {
  const at = steps.findIndex((step) => endsAnswer.has(step.verb))
  return at < 0 ? steps.length : at + 1
}

function replay(request: ModelRequest): Progress {
  let progress = fresh
  let isInsideTurn = false
  for (const item of request.items) {
    switch (item.kind) {
      case 'user': {
        const text = cleanUserText(item.text).trimStart()
        // A message that holds nothing but a reminder is the program's own.
        if (text === '' && item.text !== '') break
        progress = takeMessage(progress, lastAsked(text), isInsideTurn)
        break
      }
      case 'assistant':
        progress = takeAnswer(progress)
        isInsideTurn = false
        break
      case 'result':
        progress = { ...progress, results: [...progress.results, item.text] }
        isInsideTurn = true
        break
      case 'interrupted':
        progress = fresh
        isInsideTurn = false
        break
    }
  }
  return progress
}

const breaksOff: ReadonlySet<Step['verb']> = new Set(['error', 'limit', 'hang', 'crash'])

/** Some programs make one message of all that was asked since the last answer: what was broken off is not asked again. */
function lastAsked(text: string): string {
  const parts = text.split('\n\n')
  const broken = parts
    .slice(0, -1)
    .findLastIndex((part) => parseRules(bodyOf(part)).some((step) => breaksOff.has(step.verb)))
  return parts.slice(broken + 1).join('\n\n')
}

/** A message that comes between a tool's result and the next answer is done after the rules that still stand. */
function takeMessage(progress: Progress, message: string, isInsideTurn: boolean): Progress {
  if (progress.collecting !== undefined) return collect(progress, progress.collecting, bodiesOf(message))
  const body = bodyOf(message)
  const own = parseRules(body)
  const steps = own.length > 0 ? own : echoOf(body)
  return isInsideTurn ? { ...progress, steps: [...progress.steps, ...steps] } : { ...fresh, steps }
}

function collect(progress: Progress, collecting: Collecting, bodies: readonly string[]): Progress {
  const messages = [...progress.messages, ...bodies]
  if (messages.length >= collecting.needed) {
    return { ...progress, messages, steps: collecting.rest, collecting: undefined }
  }
  const steps: readonly Step[] = [
    { verb: 'reply', rest: `${messages.length} of ${collecting.needed} messages are here.` },
  ]
  return { ...progress, messages, steps }
}

function takeAnswer(progress: Progress): Progress {
  const end = firstEnd(progress.steps)
  const last = progress.steps[end - 1]
  const rest = progress.steps.slice(end)
  if (last?.verb !== 'collect') return { ...progress, steps: rest }
  return { ...progress, steps: [], messages: [], collecting: { needed: Math.max(Number(last.rest), 1), rest } }
}

function actsOf(step: Step, tools: readonly Tool[], remembered: Remembered): readonly Act[] {
  const say = (text: string): readonly Act[] => [{ kind: 'text', text }]
  switch (step.verb) {
    case 'reply':
      return say(renderText(step.rest, remembered))
    case 'say':
      return say(`${renderText(step.rest, remembered)}\n\n`)
    case 'think':
      return [{ kind: 'reasoning', text: renderText(step.rest, remembered) }]
    case 'slow':
      return slowActs(parseNumber(step.rest, 15))
    case 'wait':
    case 'freeze':
      return [{ kind: 'pause', ms: Number(step.rest) }]
    case 'tool':
      return callShell(step.rest, tools)
    case 'ask':
      return askQuestion(step.rest, tools)
    case 'call':
      return callTool(step.rest, tools, remembered)
    case 'collect':
      return say(`Waiting for ${step.rest} messages.`)
    case 'long':
      return say(longText(parseNumber(step.rest, 120)))
    case 'flood':
      return say(floodText(Number(step.rest)))
    case 'unicode':
      return say(unicodeText)
    case 'markdown':
      return say(markdownText)
    case 'imitate':
      return say(imitationText)
    case 'hang':
      return [{ kind: 'hang' }]
    case 'crash':
      return [{ kind: 'drop' }]
    // The error is the whole answer; the last two are of a program's screen and keyboard, which a model does not have.
    case 'error':
    case 'limit':
    case 'swallow-enter':
    case 'slow-paint':
      return []
  }
}

const slowStepMs = 250

function slowActs(seconds: number): readonly Act[] {
  return Array.from({ length: Math.max(Math.round((seconds * 1000) / slowStepMs), 1) }).flatMap((_, at): Act[] => [
    { kind: 'text', text: wordAt(at) },
    { kind: 'pause', ms: slowStepMs },
  ])
}

const offered = (tools: readonly Tool[]) => tools.map((tool) => tool.name).join(', ')

function callShell(command: string, tools: readonly Tool[]): readonly Act[] {
  const tool = findShellTool(tools)
  if (tool === undefined) return [{ kind: 'text', text: `No shell tool among: ${offered(tools)}` }]
  return [{ kind: 'call', tool: tool.name, args: shellArguments(tool, command) }]
}

function askQuestion(rest: string, tools: readonly Tool[]): readonly Act[] {
  const question = parseQuestion(rest)
  const tool = findQuestionTool(tools)
  if (tool === undefined) return [{ kind: 'text', text: [question.text, ...question.options].join('\n') }]
  return [{ kind: 'call', tool: tool.name, args: questionArguments(tool, question.text, question.options) }]
}

function callTool(rest: string, tools: readonly Tool[], remembered: Remembered): readonly Act[] {
  const call = parseCall(rest)
  if (call.kind === 'unreadable') return [{ kind: 'text', text: `Can not call ${call.tool}: ${call.why}` }]
  const tool = findTool(tools, call.tool)
  if (tool === undefined) return [{ kind: 'text', text: `No tool ${call.tool} among: ${offered(tools)}` }]
  return [{ kind: 'call', tool: tool.name, args: fillInArgs(call.args, remembered) }]
}
