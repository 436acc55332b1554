/** Reading `GET /session/ID/message`: the record of a conversation, oldest message first. Pure. */

import { fieldsOf, isFields, listOf, numberOf, textOf } from '../fields.ts'
import { joinTexts, outcomeOf, type TakenText } from './conversation.ts'
import { type AssistantMessage, readAssistant, readTextPart } from './event.ts'

export type RecordedMessage =
  | { readonly role: 'user'; readonly createdMs: number | undefined; readonly texts: readonly TakenText[] }
  | { readonly role: 'assistant'; readonly message: AssistantMessage; readonly texts: readonly string[] }

export function readMessages(body: unknown): readonly RecordedMessage[] {
  const entries = Array.isArray(body) ? body.filter(isFields) : []
  return entries.flatMap((entry): RecordedMessage[] => {
    const info = fieldsOf(entry, 'info')
    const messageId = textOf(info, 'id') ?? ''
    const texts = listOf(entry, 'parts')
      .filter(isFields)
      .flatMap((part) => {
        const text = readTextPart(part)
        return text === undefined ? [] : [{ messageId, partId: textOf(part, 'id') ?? messageId, text }]
      })
    if (textOf(info, 'role') === 'user') {
      return [{ role: 'user', createdMs: numberOf(fieldsOf(info, 'time'), 'created'), texts }]
    }
    const message = readAssistant(info)
    return message === undefined ? [] : [{ role: 'assistant', message, texts: texts.map(({ text }) => text) }]
  })
}

/** What the person's side said since `sinceMs`, milliseconds of the epoch. */
export function findTaken(messages: readonly RecordedMessage[], sinceMs: number): readonly TakenText[] {
  return messages.flatMap((one) => (one.role === 'user' && (one.createdMs ?? 0) >= sinceMs ? one.texts : []))
}

export function findLastAssistant(messages: readonly RecordedMessage[]): AssistantMessage | undefined {
  const last = messages.findLast((one) => one.role === 'assistant')
  return last?.role === 'assistant' ? last.message : undefined
}

export type LastAnswer =
  | { readonly kind: 'exact'; readonly text: string }
  | { readonly kind: 'none'; readonly why: string }
  /** A turn runs, or its last message is not written yet. */
  | { readonly kind: 'unsettled' }

/** The answer of the last turn. */
export function findLastAnswer(messages: readonly RecordedMessage[]): LastAnswer {
  const last = messages.at(-1)
  if (last === undefined) return { kind: 'none', why: 'there was no turn yet' }
  if (last.role === 'user' || !last.message.isCompleted) return { kind: 'unsettled' }
  const outcome = outcomeOf(undefined, last.message)
  if (outcome === 'answered') return { kind: 'exact', text: joinTexts(last.texts) }
  return { kind: 'none', why: last.message.error?.message ?? `the turn was ${outcome}` }
}
