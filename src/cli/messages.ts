/** `cao messages`: where messages stand, and the dead letters: sent again, or put away. */

import { AppError } from '../domain/errors.ts'
import { parseTerminalId } from '../domain/ids.ts'
import { headlineOf } from '../domain/message.ts'
import type { MessageBody } from '../protocol/message.ts'
import { cleanLine } from './clean-text.ts'
import type { Command } from './command.ts'
import { formatClockTime } from './format-time.ts'
import { flagOption, numberOption, takePositionals, textOption } from './parse-call.ts'
import { printJson, printLine } from './print.ts'
import { type Column, formatTable } from './table.ts'

export const messagesCommand: Command = {
  usage: `cao messages [list] [--dead] [--state STATE] [--to TERMINAL] [--limit N] [--json]
cao messages show ID [--json]
cao messages resend ID [--to TERMINAL] [--json]
cao messages drop ID [--json]

  list    messages of all agents, newest first
  show    when one came to each state, by which proof, and its text
  resend  one that ended badly once more, as a new message that names the old one
  drop    one that ended badly is put away; its row stays
  --dead         only what ended badly and was neither sent again nor dropped
  --state STATE  only those in this state, such as queued or unconfirmed
  --to TERMINAL  only those for this agent; of resend: another receiver
  --limit N      at most so many (20)`,
  options: {
    dead: { type: 'boolean' },
    state: { type: 'string' },
    to: { type: 'string' },
    limit: { type: 'string', isNumber: true },
  },
  async run({ options, positionals, context }) {
    const [what = 'list', ...rest] = positionals
    const isJson = flagOption(options, 'json')
    const to = textOption(options, 'to')
    if (to !== undefined && parseTerminalId(to) === undefined) {
      throw new AppError('BAD_REQUEST', '--to takes a terminal id, 8 hexadecimal digits')
    }
    if (what === 'list') {
      takePositionals(rest, [])
      const state = textOption(options, 'state')
      const query = {
        limit: numberOption(options, 'limit', { isWhole: true }) ?? listDefault,
        dead: flagOption(options, 'dead'),
        ...(state === undefined ? {} : { state }),
        ...(to === undefined ? {} : { receiver: to }),
      }
      const client = await context.openClient()
      const found = await client.searchMessages(query, { signal: context.signal })
      if (isJson) await printJson(context, found)
      else await printLine(context, formatTable(columns, found))
      return 0
    }
    const { ID = '' } = takePositionals(rest, ['ID'])
    const id = requireMessageId(ID)
    const client = await context.openClient()
    const how = { signal: context.signal }
    switch (what) {
      case 'show': {
        const message = await client.getMessage(id, how)
        if (isJson) await printJson(context, message)
        else for (const line of formatMessage(message)) await printLine(context, line)
        return 0
      }
      case 'resend': {
        const sent = await client.resendMessage(id, to === undefined ? {} : { receiver_id: to }, how)
        if (isJson) await printJson(context, sent)
        else
          await printLine(context, `message ${id} is sent again as message ${sent.message_id}, to ${sent.receiver_id}`)
        return 0
      }
      case 'drop': {
        const dropped = await client.dropMessage(id, how)
        if (isJson) await printJson(context, dropped)
        else await printLine(context, `message ${id} was dropped`)
        return 0
      }
      default:
        throw new AppError('BAD_REQUEST', `there is no "cao messages ${what}"; --help lists what there is`)
    }
  },
}

const listDefault = 20

/** Errors: BAD_REQUEST. */
function requireMessageId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new AppError('BAD_REQUEST', 'ID is the number of a message')
  return Number(text)
}

const columns: readonly Column<MessageBody>[] = [
  { title: 'ID', text: ({ id }) => String(id), align: 'right' },
  { title: 'TO', text: ({ receiver_id }) => receiver_id },
  { title: 'FROM', text: ({ sender_id }) => sender_id, widthMax: 16 },
  { title: 'KIND', text: ({ orchestration_type }) => orchestration_type },
  { title: 'STATE', text: ({ state }) => state },
  { title: 'SINCE', text: ({ updated_at }) => formatClockTime(Date.parse(updated_at)) },
  { title: 'TEXT', text: ({ message }) => headlineOf(message), widthMax: 60 },
]

/** Pure. */
export function formatMessage(message: MessageBody): readonly string[] {
  const { id, orchestration_type, sender_id, receiver_id, state, detail, delivery, attempts, receipts } = message
  const facts = [
    ...(delivery === 'idle' ? [] : [`delivery: ${delivery}`]),
    ...(attempts > 1 ? [`attempts: ${attempts}`] : []),
    ...(message.proof === null ? [] : [`proof: ${message.proof}`]),
    ...(message.turn_outcome === null ? [] : [`its turn: ${message.turn_outcome}`]),
    ...(detail === null ? [] : [`detail: ${cleanLine(detail)}`]),
    ...(message.resend_of === null ? [] : [`sends again: message ${message.resend_of}`]),
    ...(message.dropped_at === null ? [] : [`dropped: ${formatClockTime(Date.parse(message.dropped_at))}`]),
  ]
  return [
    `message ${id} (${orchestration_type}) from ${cleanLine(sender_id)} to ${receiver_id}: ${state}`,
    ...receipts.map(({ state: rung, at }) => `  ${formatClockTime(Date.parse(at))}  ${rung}`),
    ...facts.map((fact) => `  ${fact}`),
    ...message.message.split('\n').map((line) => `  | ${cleanLine(line)}`),
  ]
}
