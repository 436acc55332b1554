/**
 * Qwen Code's record of a conversation: one JSON object a line, appended to. A prompt is written when its turn begins, what the model
 * said when one of its messages is whole, after a line on the request that it answered; what was broken off has no such line, and
 * counts no tokens. Failed requests have lines of their own. Pure.
 */
import { join } from 'node:path'
import { type Fields, fieldsOf, numberOf, objectsOf, textOf } from '../fields.ts'
import type { ChatLayout, ChatParser } from '../gemini_family/chat-files.ts'
import type { ChatRecord } from '../gemini_family/turn.ts'

/** One for each file, from wherever reading goes on. What can not be read is left out. */
export class QwenChatParser implements ChatParser {
  #hasResponse = false

  feed(fields: Fields): readonly ChatRecord[] {
    const atMs = Date.parse(textOf(fields, 'timestamp') ?? '')
    if (Number.isNaN(atMs)) return []
    switch (fields['type']) {
      case 'user':
        this.#hasResponse = false
        return readPrompt(fields, atMs)
      case 'assistant': {
        const isWhole = this.#hasResponse || fields['usageMetadata'] !== undefined
        this.#hasResponse = false
        return isWhole ? [readSaid(fields, atMs)] : [{ kind: 'cancelled', atMs }]
      }
      case 'tool_result':
        return [{ kind: isCancelled(fields) ? 'cancelled' : 'results', atMs }]
      case 'system':
        return this.#readEvent(fieldsOf(fieldsOf(fields, 'systemPayload'), 'uiEvent'), atMs)
      default:
        return []
    }
  }

  #readEvent(event: Fields, atMs: number): readonly ChatRecord[] {
    const name = textOf(event, 'event.name') ?? ''
    if (name.endsWith('.api_response')) this.#hasResponse = true
    if (!name.endsWith('.api_error')) return []
    const message =
      textOf(event, 'error_message') ?? textOf(event, 'error.message') ?? textOf(event, 'error') ?? 'API error'
    return [{ kind: 'error', text: message, atMs }]
  }
}

const textOfParts = (fields: Fields): string =>
  objectsOf(fieldsOf(fields, 'message'), 'parts')
    .map((part) => (part['thought'] === true ? '' : (textOf(part, 'text') ?? '')))
    .join('')

function readPrompt(fields: Fields, atMs: number): readonly ChatRecord[] {
  const text = textOfParts(fields)
  return text === '' ? [] : [{ kind: 'prompt', text, atMs }]
}

function readSaid(fields: Fields, atMs: number): ChatRecord {
  const parts = objectsOf(fieldsOf(fields, 'message'), 'parts')
  const usage = fieldsOf(fields, 'usageMetadata')
  return {
    kind: 'said',
    id: textOf(fields, 'uuid') ?? '',
    text: textOfParts(fields),
    hasCalls: parts.some((part) => part['functionCall'] !== undefined),
    input: numberOf(usage, 'promptTokenCount') ?? 0,
    output: numberOf(usage, 'candidatesTokenCount') ?? 0,
    atMs,
  }
}

/** A person refused the call, after which the turn is over. */
const isCancelled = (fields: Fields): boolean => textOf(fieldsOf(fields, 'toolCallResult'), 'status') === 'cancelled'

/** Where the records are below the agent's own folder. */
export const qwenChats = (recordsDir: string): ChatLayout => ({
  projectsDir: join(recordsDir, 'projects'),
  namePattern: /^[0-9a-f-]{36}\.jsonl$/,
  newParser: () => new QwenChatParser(),
  readSessionId: (name) => name.replace(/\.jsonl$/, ''),
})
