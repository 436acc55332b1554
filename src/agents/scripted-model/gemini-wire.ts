/**
 * Google's Gemini API (`models/M:generateContent`, `:streamGenerateContent`), as much of it as agent CLIs use. Model and
 * manner of the answer stand in the path. A call and its result are parts of messages.
 */
import type { JsonObject } from '../rules/rules.ts'
import type { Item, ModelRequest, Tool } from './conversation.ts'
import { cleanUserText } from './conversation.ts'
import type { Act } from './plan-answer.ts'
import { describeError, type Frames, isObject, objectsOf, stringOf, usage, type Wire, wholeText } from './wire.ts'

const usageMetadata = {
  promptTokenCount: usage.input,
  candidatesTokenCount: usage.output,
  totalTokenCount: usage.input + usage.output,
}
const statusWords: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
}

/** What Gemini CLI puts before the first message: where it runs. */
const contextPattern = /<session_context>[\s\S]*?<\/session_context>/g
/** Its result for a call that a person refused, after which the turn is over. */
const cancelledPattern = /^\[Operation Cancelled\]/

const partsOf = (content: unknown): readonly JsonObject[] => (isObject(content) ? objectsOf(content['parts']) : [])
const textOfParts = (parts: readonly JsonObject[]): string =>
  parts.map((part) => (part['thought'] === true ? '' : stringOf(part['text']))).join('')

function readTools(entry: JsonObject): readonly Tool[] {
  return objectsOf(entry['functionDeclarations']).map((declared) => {
    const schema = declared['parametersJsonSchema'] ?? declared['parameters']
    return { name: stringOf(declared['name']), schema: isObject(schema) ? schema : {} }
  })
}

function readResult(part: JsonObject): readonly Item[] {
  const answer = part['functionResponse']
  const body = isObject(answer) && isObject(answer['response']) ? answer['response'] : undefined
  if (body === undefined) return []
  const text = stringOf(body['output']) || stringOf(body['error']) || JSON.stringify(body)
  return cancelledPattern.test(text) ? [{ kind: 'interrupted' }] : [{ kind: 'result', text }]
}

function readItems(content: JsonObject): readonly Item[] {
  if (content['role'] === 'model') return [{ kind: 'assistant' }]
  const parts = partsOf(content)
  const text = textOfParts(parts).replaceAll(contextPattern, '')
  const said: readonly Item[] = cleanUserText(text).trim() === '' ? [] : [{ kind: 'user', text }]
  return [...parts.flatMap(readResult), ...said]
}

/** A text and calls of one answer may come as messages of their own: together they are one. */
function joinAnswers(items: readonly Item[]): readonly Item[] {
  return items.filter((item, at) => item.kind !== 'assistant' || items[at - 1]?.kind !== 'assistant')
}

const modelOf = (path: string): string => /models\/([^:/]+)/.exec(path)?.[1] ?? ''
const callPart = (name: string, args: JsonObject): JsonObject => ({
  functionCall: { name, args },
  thoughtSignature: 'c2NyaXB0ZWQ=',
})

function chunkOf(model: string, parts: readonly JsonObject[], isLast: boolean): JsonObject {
  const finish = isLast ? { finishReason: 'STOP' } : {}
  const candidates = [{ content: { role: 'model', parts }, index: 0, ...finish }]
  return { candidates, usageMetadata, modelVersion: model, responseId: 'scripted' }
}

class GeminiFrames implements Frames {
  readonly #model: string

  constructor(request: ModelRequest) {
    this.#model = request.model
  }

  /** Nothing comes before the first part. */
  begin(): string {
    return ''
  }

  text(delta: string): string {
    return this.#frame([{ text: delta }])
  }

  reasoning(delta: string): string {
    return this.#frame([{ text: delta, thought: true }])
  }

  call(tool: string, args: JsonObject): string {
    return this.#frame([callPart(tool, args)])
  }

  end(): string {
    return this.#frame([{ text: '' }], true)
  }

  #frame(parts: readonly JsonObject[], isLast = false): string {
    return `data: ${JSON.stringify(chunkOf(this.#model, parts, isLast))}\r\n\r\n`
  }
}

function schemaOf(body: JsonObject): JsonObject | undefined {
  const config = body['generationConfig']
  if (!isObject(config)) return undefined
  const schema = config['responseJsonSchema'] ?? config['responseSchema']
  return isObject(schema) ? schema : undefined
}

export const geminiWire: Wire = {
  path: /:(?:streamG|g)enerateContent$/,
  read(body, path) {
    const schema = schemaOf(body)
    return {
      model: modelOf(path),
      isStreaming: path.endsWith(':streamGenerateContent'),
      systemPrompt: textOfParts(partsOf(body['systemInstruction'])),
      tools: objectsOf(body['tools']).flatMap(readTools),
      items: joinAnswers(objectsOf(body['contents']).flatMap(readItems)),
      ...(schema === undefined ? {} : { answerSchema: schema }),
    }
  },
  errorBody(httpStatus, limit) {
    const status = statusWords[httpStatus] ?? 'INTERNAL'
    return { error: { code: httpStatus, message: describeError(httpStatus, limit), status } }
  },
  whole(request, acts: readonly Act[]) {
    const text = wholeText(acts)
    const calls = acts.flatMap((act) => (act.kind === 'call' ? [callPart(act.tool, act.args)] : []))
    return chunkOf(request.model, [...(text === '' ? [] : [{ text }]), ...calls], true)
  },
  open: (request) => new GeminiFrames(request),
}
