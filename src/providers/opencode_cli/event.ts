/**
 * The events of `GET /event` that say something about a conversation; all others (plugins, catalogue, diffs, deltas)
 * are read as undefined. Pure. Source: opencode 1.18.33, its `/doc`, and fixtures/opencode_cli.
 */
import { type Fields, fieldsOf, isFields, listOf, numberOf, parseJson, textOf } from '../fields.ts'

export type AssistantMessage = {
  readonly id: string
  readonly sessionId: string
  readonly isCompleted: boolean
  /** `stop`, `tool-calls`, `length`, …; absent while it runs and after an abort. */
  readonly finish: string | undefined
  readonly error: VendorError | undefined
}

export type VendorError = {
  readonly name: string
  readonly message: string
  readonly httpStatus: number | undefined
}

/** A permission prompt or a question that stands open. */
export type OpenRequest = {
  readonly id: string
  readonly sessionId: string
  readonly reason: 'permission' | 'question'
  readonly text: string
  readonly options: readonly string[]
}

export type SessionStatus =
  | { readonly kind: 'idle' }
  | { readonly kind: 'busy' }
  | { readonly kind: 'retry'; readonly message: string }

export type EventBody =
  | { readonly kind: 'session_created'; readonly sessionId: string; readonly parentId: string | undefined }
  | { readonly kind: 'user_message'; readonly sessionId: string; readonly messageId: string }
  | { readonly kind: 'assistant_message'; readonly message: AssistantMessage }
  | {
      readonly kind: 'text_part'
      readonly sessionId: string
      readonly messageId: string
      readonly partId: string
      readonly text: string
    }
  | { readonly kind: 'status'; readonly sessionId: string; readonly status: SessionStatus }
  | { readonly kind: 'error'; readonly sessionId: string; readonly error: VendorError }
  | { readonly kind: 'asked'; readonly request: OpenRequest }
  | { readonly kind: 'closed'; readonly requestId: string }

/** `raw` names the event for `explain`: its type and id. */
export type OpencodeEvent = EventBody & { readonly raw: string }

/** Reads the data of one frame. */
export function parseEvent(data: string): OpencodeEvent | undefined {
  const event = parseJson(data)
  if (!isFields(event)) return undefined
  const type = textOf(event, 'type') ?? ''
  const body = readBody(type, fieldsOf(event, 'properties'))
  return body === undefined ? undefined : { ...body, raw: `${type} ${textOf(event, 'id') ?? ''}`.trimEnd() }
}

function readBody(type: string, properties: Fields): EventBody | undefined {
  const sessionId = textOf(properties, 'sessionID')
  if (sessionId === undefined) return undefined
  switch (type) {
    case 'session.created': {
      const parentId = textOf(fieldsOf(properties, 'info'), 'parentID')
      return { kind: 'session_created', sessionId, parentId }
    }
    case 'message.updated':
      return readMessage(fieldsOf(properties, 'info'))
    case 'message.part.updated':
      return readPart(fieldsOf(properties, 'part'))
    case 'session.status':
      return { kind: 'status', sessionId, status: readStatus(fieldsOf(properties, 'status')) }
    case 'session.error':
      return { kind: 'error', sessionId, error: readError(fieldsOf(properties, 'error')) }
    case 'permission.asked':
      return readAsked(readPermission(properties))
    case 'question.asked':
      return readAsked(readQuestion(properties))
    case 'permission.replied':
    case 'question.replied':
    case 'question.rejected': {
      const requestId = textOf(properties, 'requestID')
      return requestId === undefined ? undefined : { kind: 'closed', requestId }
    }
    default:
      return undefined
  }
}

function readMessage(info: Fields): EventBody | undefined {
  const messageId = textOf(info, 'id')
  const sessionId = textOf(info, 'sessionID')
  if (messageId === undefined || sessionId === undefined) return undefined
  if (textOf(info, 'role') === 'user') return { kind: 'user_message', sessionId, messageId }
  const message = readAssistant(info)
  return message === undefined ? undefined : { kind: 'assistant_message', message }
}

/** Reads the `info` of an assistant's message. */
export function readAssistant(info: Fields): AssistantMessage | undefined {
  const id = textOf(info, 'id')
  const sessionId = textOf(info, 'sessionID')
  if (id === undefined || sessionId === undefined || textOf(info, 'role') !== 'assistant') return undefined
  const error = info['error']
  return {
    id,
    sessionId,
    isCompleted: numberOf(fieldsOf(info, 'time'), 'completed') !== undefined,
    finish: textOf(info, 'finish'),
    error: isFields(error) ? readError(error) : undefined,
  }
}

function readPart(part: Fields): EventBody | undefined {
  const sessionId = textOf(part, 'sessionID')
  const messageId = textOf(part, 'messageID')
  const partId = textOf(part, 'id')
  const text = readTextPart(part)
  if (sessionId === undefined || messageId === undefined || partId === undefined) return undefined
  return text === undefined ? undefined : { kind: 'text_part', sessionId, messageId, partId, text }
}

/** The text of a part that the model or the person wrote; undefined for tools, reasoning and what the program put in. */
export function readTextPart(part: Fields): string | undefined {
  if (textOf(part, 'type') !== 'text' || part['synthetic'] === true || part['ignored'] === true) return undefined
  return textOf(part, 'text')
}

/** Reads a value of `session.status` or of `GET /session/status`. What is unknown counts as busy. */
export function readStatus(status: Fields): SessionStatus {
  switch (status['type']) {
    case 'idle':
      return { kind: 'idle' }
    case 'retry':
      return { kind: 'retry', message: textOf(status, 'message') ?? '' }
    default:
      return { kind: 'busy' }
  }
}

function readError(error: Fields): VendorError {
  const data = fieldsOf(error, 'data')
  const name = textOf(error, 'name') ?? 'UnknownError'
  return { name, message: textOf(data, 'message') ?? name, httpStatus: numberOf(data, 'statusCode') }
}

const readAsked = (request: OpenRequest | undefined): EventBody | undefined =>
  request === undefined ? undefined : { kind: 'asked', request }

export const permissionOptions = ['Allow once', 'Allow always', 'Reject'] as const

/** Reads an entry of `GET /permission`, which is the event's `properties` too. */
export function readPermission(request: Fields): OpenRequest | undefined {
  const id = textOf(request, 'id')
  const sessionId = textOf(request, 'sessionID')
  if (id === undefined || sessionId === undefined) return undefined
  const permission = textOf(request, 'permission') ?? 'something'
  const command = textOf(fieldsOf(request, 'metadata'), 'command')
  const patterns = listOf(request, 'patterns').filter((pattern) => typeof pattern === 'string')
  const what = command ?? patterns.join(', ')
  return { id, sessionId, reason: 'permission', text: `Allow ${permission}: ${what}`, options: permissionOptions }
}

/** Reads an entry of `GET /question`. Several questions in one request become one text; only the first has options. */
export function readQuestion(request: Fields): OpenRequest | undefined {
  const id = textOf(request, 'id')
  const sessionId = textOf(request, 'sessionID')
  if (id === undefined || sessionId === undefined) return undefined
  const questions = listOf(request, 'questions').filter(isFields)
  const text = questions.map((question) => textOf(question, 'question') ?? '').join('\n')
  const options = questions.flatMap((question) => listOf(question, 'options').filter(isFields))
  const labels = options.flatMap((option) => textOf(option, 'label') ?? [])
  return { id, sessionId, reason: 'question', text, options: questions.length === 1 ? labels : [] }
}
