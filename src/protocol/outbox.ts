/**
 * A message that an agent gave up while the server was down: one file per message, named `UUID.json`, written as
 * `.UUID.tmp` and renamed, mode 0600. The server reads each once: the uuid is remembered, a second file with it is dropped.
 */
import { z } from 'zod'
import { messageField, terminalIdField } from './fields.ts'

export const outboxVersion = 1
export const outboxFilesMax = 1_000

export const outboxSchema = z.object({
  version: z.literal(outboxVersion),
  uuid: z.uuid(),
  kind: z.literal('send_message'),
  sender_id: terminalIdField,
  /** Null: whoever the sender's caller is. */
  receiver_id: terminalIdField.nullable(),
  message: messageField,
  created_at: z.string(),
})
export type OutboxMessage = z.infer<typeof outboxSchema>

export const outboxFileName = (uuid: string): string => `${uuid}.json`
/** Whether a name in the directory is a whole file; others are still being written. */
export const isOutboxFile = (name: string): boolean => /^[0-9a-f-]{36}\.json$/.test(name)

/** Errors: none; a broken file gives the reason. */
export function parseOutbox(
  text: string,
): { readonly ok: true; readonly message: OutboxMessage } | { readonly ok: false; readonly why: string } {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { ok: false, why: 'not JSON' }
  }
  const parsed = outboxSchema.safeParse(value)
  if (parsed.success) return { ok: true, message: parsed.data }
  return { ok: false, why: parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ') }
}
