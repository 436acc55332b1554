/**
 * Gemini CLI's record of a conversation: one JSON object a line, appended to. A prompt is written when its turn begins, what the
 * model said when one of its messages is whole; a message is written again with its tool calls when they are done. After an
 * interruption the earlier conversation may be written once more, up to a line that lists it: copies, which are left out. Pure.
 */
import { join } from 'node:path'
import { type Fields, fieldsOf, listOf, numberOf, objectsOf, parseFields, textOf } from '../fields.ts'
import type { ChatLayout, ChatParser } from '../gemini_family/chat-files.ts'
import type { ChatRecord } from '../gemini_family/turn.ts'

const contextBegin = /^\s*<(?:session_context|state_snapshot)>/
const cancelledText = /^Request cancelled\b/

/** One for each file, from wherever reading goes on. What can not be read is left out. */
export class GeminiChatParser implements ChatParser {
  #isCopying = false

  feed(fields: Fields): readonly ChatRecord[] {
    if (fields['$set'] !== undefined) {
      if (fieldsOf(fields, '$set')['messages'] !== undefined) this.#isCopying = false
      return []
    }
    if (beginsCopy(fields)) this.#isCopying = true
    return this.#isCopying ? [] : readRecord(fields)
  }
}

/** No prompt of a person begins with what Gemini CLI puts before the first one. */
function beginsCopy(fields: Fields): boolean {
  const [first] = objectsOf(fields, 'content')
  return fields['type'] === 'user' && first !== undefined && contextBegin.test(textOf(first, 'text') ?? '')
}

function readRecord(fields: Fields): readonly ChatRecord[] {
  const atMs = Date.parse(textOf(fields, 'timestamp') ?? '')
  if (Number.isNaN(atMs)) return []
  const text = textOfContent(fields)
  switch (fields['type']) {
    case 'user':
      if (objectsOf(fields, 'content').some((part) => part['functionResponse'] !== undefined)) {
        return [{ kind: 'results', atMs }]
      }
      return text === '' ? [] : [{ kind: 'prompt', text, atMs }]
    case 'gemini': {
      const tokens = fieldsOf(fields, 'tokens')
      const [input, output] = [numberOf(tokens, 'input') ?? 0, numberOf(tokens, 'output') ?? 0]
      const hasCalls = listOf(fields, 'toolCalls').length > 0
      return [{ kind: 'said', id: textOf(fields, 'id') ?? '', text, hasCalls, input, output, atMs }]
    }
    case 'error':
      return [{ kind: 'error', text: describeError(text), atMs }]
    case 'info':
      return cancelledText.test(text) ? [{ kind: 'cancelled', atMs }] : []
    default:
      return []
  }
}

function textOfContent(fields: Fields): string {
  const whole = textOf(fields, 'content')
  if (whole !== undefined) return whole
  return objectsOf(fields, 'content')
    .map((part) => textOf(part, 'text') ?? '')
    .join('')
}

/** `[API Error: {"error":{"code":400,"message":"…"}}]`, or a sentence in the same brackets. */
export function describeError(text: string): string {
  const inner = /^\[?API Error: ([\s\S]*?)\]?\s*$/.exec(text.trim())?.[1] ?? text.trim()
  const error = fieldsOf(parseFields(inner) ?? {}, 'error')
  const message = textOf(error, 'message')
  const code = numberOf(error, 'code')
  if (message === undefined) return inner
  return code === undefined || message.includes(String(code)) ? message : `${message} (${code})`
}

/** Where the records are in an agent's own `.gemini` folder. Sub-agents have folders of their own below it, which are not read. */
export const geminiChats = (geminiDir: string): ChatLayout => ({
  projectsDir: join(geminiDir, 'tmp'),
  namePattern: /^session-.*\.jsonl$/,
  newParser: () => new GeminiChatParser(),
  readSessionId: (_, head) => textOf(head, 'sessionId'),
})
