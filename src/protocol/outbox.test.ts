import { expect, test } from 'vitest'
import { isOutboxFile, outboxFileName, parseOutbox } from './outbox.ts'

const message = {
  version: 1,
  uuid: '0b6ff5f4-5f0c-4b6e-9d0a-3f8f8f1a2b3c',
  kind: 'send_message',
  sender_id: '12ab34cd',
  receiver_id: null,
  message: 'done',
  created_at: '2026-01-01T00:00:00.000Z',
}

test('a file that was written whole is read back', () => {
  expect(parseOutbox(JSON.stringify(message))).toEqual({ ok: true, message })
})

test.each([
  ['cut off', JSON.stringify(message).slice(0, 40), 'not JSON'],
  ['of a later version', JSON.stringify({ ...message, version: 2 }), 'version'],
  ['without a sender', JSON.stringify({ ...message, sender_id: undefined }), 'sender_id'],
  ['of something else', 'null', ''],
])('a file %s gives the reason and does not throw', (_what, text, why) => {
  const parsed = parseOutbox(text)
  expect(parsed.ok).toBe(false)
  expect(parsed.ok ? '' : parsed.why).toContain(why)
})

test('only whole files count, not drafts and not refused ones', () => {
  expect(isOutboxFile(outboxFileName(message.uuid))).toBe(true)
  expect([`.${message.uuid}.tmp`, `${message.uuid}.json.refused`, 'notes.json'].filter(isOutboxFile)).toEqual([])
})
