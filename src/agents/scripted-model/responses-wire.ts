/**
 * OpenAI's Responses, streamed and whole, as much of it as agent CLIs use. Tools of one server come together in a
 * namespace, and a call names it beside the tool.
 */
import { randomBytes } from 'node:crypto'
import type { JsonObject } from '../rules/rules.ts'
import { cleanUserText, type Item, type ModelRequest, type Tool } from './conversation.ts'
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

const makeId = (prefix: string) => `${prefix}_${randomBytes(8).toString('hex')}`
const usageBody = {
  input_tokens: usage.input,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: usage.output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: usage.input + usage.output,
}

/** What Codex puts into the conversation when a person stops a turn, and what a folder's instructions begin with. */
const abortedPattern = /^<turn_aborted>/
const instructionsPattern = /^(?:# AGENTS\.md instructions|<user_instructions>)/

/** What Codex writes before a tool's own words. */
const resultHead = /^(?:Chunk ID: .*\n)?Wall time: (?:.*\n)+?Output:\n?/

function readTools(entry: JsonObject, namespace?: string): readonly Tool[] {
  const name = stringOf(entry['name'])
  if (entry['type'] === 'namespace') return objectsOf(entry['tools']).flatMap((tool) => readTools(tool, name))
  if (entry['type'] !== 'function') return []
  const schema = isObject(entry['parameters']) ? entry['parameters'] : {}
  return [namespace === undefined ? { name, schema } : { name: `${namespace}__${name}`, schema, namespace }]
}

function readItem(item: JsonObject): readonly Item[] {
  switch (item['type'] ?? 'message') {
    case 'message':
      return readMessage(item)
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [{ kind: 'result', text: textOf(item['output']).replace(resultHead, '') }]
    default:
      return []
  }
}

function readMessage({ role, content }: JsonObject): readonly Item[] {
  if (role === 'assistant') return [{ kind: 'assistant' }]
  const text = role === 'user' ? textOf(content) : ''
  const clean = cleanUserText(text).trim()
  if (clean === '' || instructionsPattern.test(clean)) return []
  return [abortedPattern.test(clean) ? { kind: 'interrupted' } : { kind: 'user', text }]
}

/** An answer may be a text and several calls, each an item of its own: together they are one. */
function readItems(input: unknown): readonly Item[] {
  if (typeof input === 'string') return [{ kind: 'user', text: input }]
  const items: Item[] = []
  let isInAnswer = false
  for (const item of objectsOf(input)) {
    const isCall = item['type'] === 'function_call'
    const read: readonly Item[] = isCall ? [{ kind: 'assistant' }] : readItem(item)
    const isAnswer = read.some(({ kind }) => kind === 'assistant')
    if (!isAnswer || !isInAnswer) items.push(...read)
    if (read.length > 0) isInAnswer = isAnswer
  }
  return items
}

class ResponseFrames implements Frames {
  readonly #request: ModelRequest
  readonly #head: JsonObject
  readonly #output: JsonObject[] = []
  #text: { readonly id: string; text: string } | undefined
  #count = 0

  constructor(request: ModelRequest) {
    this.#request = request
    this.#head = headOf(request)
  }

  begin(): string {
    return this.#event('response.created', { response: { ...this.#head, status: 'in_progress', output: [] } })
  }

  text(delta: string): string {
    const opened = this.#text === undefined ? this.#openText() : ''
    const open = this.#text
    if (open === undefined) return opened
    open.text += delta
    return opened + this.#event('response.output_text.delta', { ...this.#place(open.id), delta })
  }

  reasoning(delta: string): string {
    const id = makeId('rs')
    const part = { type: 'summary_text', text: delta }
    const item = { type: 'reasoning', id, summary: [part], encrypted_content: 'c2NyaXB0ZWQ=' }
    const place = { item_id: id, output_index: this.#output.length, summary_index: 0 }
    return [
      this.#closeText(),
      this.#added({ ...item, summary: [] }),
      this.#event('response.reasoning_summary_part.added', { ...place, part: { ...part, text: '' } }),
      this.#event('response.reasoning_summary_text.delta', { ...place, delta }),
      this.#event('response.reasoning_summary_text.done', { ...place, text: delta }),
      this.#done(item),
    ].join('')
  }

  call(tool: string, args: JsonObject): string {
    const item = callItem(this.#request, tool, args)
    const place = { item_id: item['id'], output_index: this.#output.length }
    const text = item['arguments']
    return [
      this.#closeText(),
      this.#added({ ...item, status: 'in_progress', arguments: '' }),
      this.#event('response.function_call_arguments.delta', { ...place, delta: text }),
      this.#event('response.function_call_arguments.done', { ...place, arguments: text }),
      this.#done(item),
    ].join('')
  }

  end(): string {
    const closed = this.#closeText()
    const response = { ...this.#head, status: 'completed', output: this.#output, usage: usageBody }
    return closed + this.#event('response.completed', { response })
  }

  #openText(): string {
    const open = { id: makeId('msg'), text: '' }
    this.#text = open
    const added = this.#added({ ...messageItem(open.id, ''), status: 'in_progress', content: [] })
    return added + this.#event('response.content_part.added', { ...this.#place(open.id), part: textPart('') })
  }

  #closeText(): string {
    if (this.#text === undefined) return ''
    const { id, text } = this.#text
    this.#text = undefined
    return [
      this.#event('response.output_text.done', { ...this.#place(id), text }),
      this.#event('response.content_part.done', { ...this.#place(id), part: textPart(text) }),
      this.#done(messageItem(id, text)),
    ].join('')
  }

  #place = (id: string): JsonObject => ({ item_id: id, output_index: this.#output.length, content_index: 0 })

  #added(item: JsonObject): string {
    return this.#event('response.output_item.added', { output_index: this.#output.length, item })
  }

  #done(item: JsonObject): string {
    const event = this.#event('response.output_item.done', { output_index: this.#output.length, item })
    this.#output.push(item)
    return event
  }

  #event(type: string, fields: JsonObject): string {
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#count++, ...fields })}\n\n`
  }
}

const headOf = (request: ModelRequest): JsonObject => ({
  id: makeId('resp'),
  object: 'response',
  created_at: 0,
  model: request.model,
})
const textPart = (text: string): JsonObject => ({ type: 'output_text', text, annotations: [] })
const messageItem = (id: string, text: string): JsonObject => ({
  type: 'message',
  id,
  role: 'assistant',
  status: 'completed',
  content: [textPart(text)],
})

function callItem({ tools }: ModelRequest, name: string, args: JsonObject): JsonObject {
  const namespace = tools.find((tool) => tool.name === name)?.namespace
  const named = namespace === undefined ? { name } : { name: name.slice(namespace.length + 2), namespace }
  const ids = { id: makeId('fc'), call_id: makeId('call') }
  return { type: 'function_call', ...ids, ...named, arguments: JSON.stringify(args), status: 'completed' }
}

function schemaOf(body: JsonObject): JsonObject | undefined {
  const text = body['text']
  const format = isObject(text) ? text['format'] : undefined
  const schema = isObject(format) ? format['schema'] : undefined
  return isObject(schema) ? schema : undefined
}

export const responsesWire: Wire = {
  path: /\/responses$/,
  read(body) {
    const input = objectsOf(body['input'])
    const isSystem = ({ role }: JsonObject) => role === 'developer' || role === 'system'
    const schema = schemaOf(body)
    return {
      model: stringOf(body['model']),
      isStreaming: body['stream'] === true,
      systemPrompt: [
        stringOf(body['instructions']),
        ...input.filter(isSystem).map(({ content }) => textOf(content)),
      ].join('\n'),
      tools: objectsOf(body['tools']).flatMap((tool) => readTools(tool)),
      items: readItems(body['input']),
      ...(schema === undefined ? {} : { answerSchema: schema }),
    }
  },
  errorBody(httpStatus, limit) {
    // The limit of a person's plan.
    if (limit !== undefined) {
      const resets_at = Math.round(limit.untilMs / 1_000)
      return {
        error: { type: 'usage_limit_reached', message: describeError(httpStatus, limit), plan_type: 'plus', resets_at },
      }
    }
    const type =
      httpStatus === 429 ? 'rate_limit_exceeded' : httpStatus < 500 ? 'invalid_request_error' : 'server_error'
    return { error: { message: describeError(httpStatus), type, code: httpStatus === 429 ? type : null } }
  },
  whole(request, acts: readonly Act[]) {
    const text = wholeText(acts)
    const calls = acts.flatMap((act) => (act.kind === 'call' ? [callItem(request, act.tool, act.args)] : []))
    const output = [...(text === '' ? [] : [messageItem(makeId('msg'), text)]), ...calls]
    return { ...headOf(request), status: 'completed', output, usage: usageBody }
  },
  open: (request) => new ResponseFrames(request),
}
