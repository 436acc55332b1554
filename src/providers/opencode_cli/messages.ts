/** Reading `GET /session/ID/message`: the record of a conversation, oldest message first. Pure. */

import { fieldsOf, isFields, listOf, textOf } from '../fields.ts'
import { joinTexts, outcomeOf } from './conversation.ts'
import { type AssistantMessage, readAssistant, readTextPart } from './event.ts'

export type RecordedMessage =
  | { readonly role: 'user'; readonly texts: readonly string[] }
  | { readonly role: 'assistant'; readonly message: AssistantMessage; readonly texts: readonly string[] }

export function readMessages(body: unknown): readonly RecordedMessage[] {
  const entries = Array.isArray(body) ? body.filter(isFields) : []
  return entries.flatMap((entry): RecordedMessage[] => {
    const info = fieldsOf(entry, 'info')
    const texts = listOf(entry, 'parts')
      .filter(isFields)
      .flatMap((part) => readTextPart(part) ?? [])
    if (textOf(info, 'role') === 'user') return [{ role: 'user', texts }]
    const message = readAssistant(info)
    return message === undefined ? [] : [{ role: 'assistant', message, texts }]
  })
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
