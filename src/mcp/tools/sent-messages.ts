/** sent_messages: what became of the messages of this agent, and what to do about those that ended badly. */
import { z } from 'zod'
import { AppError } from '../../domain/errors.ts'
import type { MessageBody } from '../../protocol/message.ts'
import { defineTool } from '../tool.ts'
import { terminalId } from './arguments.ts'

/** Characters of each body in a list. */
const excerptMax = 120
const listMax = 20

export const sentMessages = defineTool({
  name: 'sent_messages',
  title: 'See what became of your messages',
  description: [
    'Without arguments: your messages that ended badly (refused, unconfirmed, expired, undeliverable), each with its reason.',
    'With `message_id`: where that message of yours stands, when it came to each state, and by which proof. `action` "resend"',
    'sends one that ended badly once more, to `receiver_id` if the first receiver is gone; "drop" puts it away. An "unconfirmed"',
    'one may have arrived: look before you send it again.',
  ].join(' '),
  input: {
    message_id: z.number().int().min(1).optional().describe('The `message_id` that send_message gave you'),
    action: z.enum(['show', 'resend', 'drop']).default('show').describe('What to do with that message'),
    receiver_id: terminalId.optional().describe('Only for "resend": another receiver'),
  },
  async run({ message_id, action, receiver_id }, { client, signal, identity }) {
    if (message_id === undefined) {
      if (action !== 'show') throw new AppError('BAD_REQUEST', `"${action}" needs a message_id`)
      const dead = await client.searchMessages({ dead: true, limit: listMax, sender: identity.terminalId }, { signal })
      return { success: true, messages: dead.map(toExcerpt) }
    }
    if (action === 'resend') {
      const params = receiver_id === undefined ? {} : { receiver_id }
      return { ...(await client.resendMessage(message_id, params, { signal })), resend_of: message_id }
    }
    if (action === 'drop') return { success: true, ...toExcerpt(await client.dropMessage(message_id, { signal })) }
    return { success: true, ...(await client.getMessage(message_id, { signal })) }
  },
})

function toExcerpt({ message, ...rest }: MessageBody): Record<string, unknown> {
  const { id, receiver_id, state, detail, created_at, dropped_at } = rest
  return { id, receiver_id, state, detail, created_at, dropped_at, begins: message.slice(0, excerptMax) }
}
