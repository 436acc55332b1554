/** OpenAI's Chat Completions, streamed and whole, as much of it as agent CLIs use. */
import { randomBytes } from 'node:crypto'
import type { JsonObject } from '../rules/rules.ts'
import type { Item, ModelRequest, Tool } from './conversation.ts'
import type { Act } from './plan-answer.ts'
import {
  describeError,
  type Frames,
  isObject,
  objectsOf,
  stringOf,
  textOf,
  usage,
  type Wire,
  wholeText,
} from './wire.ts'

const makeId = (prefix: string) => `${prefix}${randomBytes(8).toString('hex')}`
const usageBody = {
  prompt_tokens: usage.input,
  completion_tokens: usage.output,
  total_tokens: usage.input + usage.output,
}

function readTool(entry: JsonObject): readonly Tool[] {
  const definition = entry['function']
  if (!isObject(definition)) return []
  const schema = definition['parameters']
  return [{ name: stringOf(definition['name']), schema: isObject(schema) ? schema : {} }]
}

function readItem(message: JsonObject): readonly Item[] {
  switch (message['role']) {
    case 'user':
      return [{ kind: 'user', text: textOf(message['content']) }]
    case 'assistant':
      return [{ kind: 'assistant' }]
    case 'tool':
      return [{ kind: 'result', text: textOf(message['content']) }]
    default:
      return []
  }
}

function toolCall(tool: string, args: JsonObject, index: number): JsonObject {
  return { index, id: makeId('call_'), type: 'function', function: { name: tool, arguments: JSON.stringify(args) } }
}

class ChatFrames implements Frames {
  readonly #base: JsonObject
  #calls = 0

  constructor(request: ModelRequest) {
    this.#base = { id: makeId('chatcmpl-'), object: 'chat.completion.chunk', created: 0, model: request.model }
  }

  #frame(delta: JsonObject, finish: string | null = null): string {
    return `data: ${JSON.stringify({ ...this.#base, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  }

  begin(): string {
    return this.#frame({ role: 'assistant', content: '' })
  }

  text(delta: string): string {
    return this.#frame({ content: delta })
  }

  reasoning(delta: string): string {
    return this.#frame({ reasoning_content: delta })
  }

  call(tool: string, args: JsonObject): string {
    return this.#frame({ tool_calls: [toolCall(tool, args, this.#calls++)] })
  }

  end(): string {
    const count = `data: ${JSON.stringify({ ...this.#base, choices: [], usage: usageBody })}\n\n`
    return `${this.#frame({}, this.#calls > 0 ? 'tool_calls' : 'stop')}${count}data: [DONE]\n\n`
  }
}

export const chatWire: Wire = {
  path: /\/chat\/completions$/,
  read(body) {
    const messages = objectsOf(body['messages'])
    const isSystem = (message: JsonObject) => message['role'] === 'system' || message['role'] === 'developer'
    return {
      model: stringOf(body['model']),
      isStreaming: body['stream'] === true,
      systemPrompt: messages
        .filter(isSystem)
        .map((message) => textOf(message['content']))
        .join('\n'),
      tools: objectsOf(body['tools']).flatMap(readTool),
      items: messages.flatMap(readItem),
    }
  },
  errorBody(httpStatus, limit) {
    const type = httpStatus === 429 ? 'rate_limit_error' : 'server_error'
    return { error: { message: describeError(httpStatus, limit), type, code: String(httpStatus) } }
  },
  whole(request, acts: readonly Act[]) {
    const calls = acts.flatMap((act, at) => (act.kind === 'call' ? [toolCall(act.tool, act.args, at)] : []))
    const message = { role: 'assistant', content: wholeText(acts), ...(calls.length > 0 ? { tool_calls: calls } : {}) }
    return {
      id: makeId('chatcmpl-'),
      object: 'chat.completion',
      created: 0,
      model: request.model,
      choices: [{ index: 0, message, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }],
      usage: usageBody,
    }
  },
  open: (request) => new ChatFrames(request),
}
