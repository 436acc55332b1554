/** `cao notify`: how you are told of what happens while you look elsewhere, and a try of it. */
import { AppError } from '../domain/errors.ts'
import { cleanLine } from './clean-text.ts'
import type { Call, Command } from './command.ts'
import { flagOption, takePositionals } from './parse-call.ts'
import { printJson, printLine } from './print.ts'

export const notifyCommand: Command = {
  usage: `cao notify [status]
       cao notify test

  status  how you are told, of what, and what is due
  test    tell you something now, also in quiet hours; exits with 10 when a way fails

  --json  print it as JSON`,
  options: {},
  run(call) {
    const [action = 'status', ...rest] = call.positionals
    takePositionals(rest, [])
    if (action === 'status') return showStatus(call)
    if (action === 'test') return test(call)
    throw new AppError('BAD_REQUEST', `"${action}" is neither status nor test`)
  },
}

const howTo = 'you are told by nothing; set notify.command or notify.url with "cao config"'

async function showStatus({ options, context }: Call): Promise<number> {
  const client = await context.openClient()
  const state = await client.getNotify({ signal: context.signal })
  if (flagOption(options, 'json')) {
    await printJson(context, state)
    return 0
  }
  if (state.channels.length === 0) await printLine(context, howTo)
  for (const { channel, due, last } of state.channels) {
    const before = last === null ? 'not used yet' : `${last.told ? 'told' : 'failed'} at ${last.at}`
    await printLine(context, `${channel}: ${due} due, ${before}${formatDetail(last?.detail)}`)
  }
  const quiet = state.quiet === null ? '' : `, not between ${state.quiet.replace('-', ' and ')}`
  await printLine(context, `of: ${state.kinds.join(', ')}${quiet}, gathered for ${state.batch_s} s`)
  return 0
}

async function test({ options, context }: Call): Promise<number> {
  const client = await context.openClient()
  const { channels } = await client.testNotify({ signal: context.signal })
  if (channels.length === 0) throw new AppError('CONFLICT', howTo)
  if (flagOption(options, 'json')) await printJson(context, { channels })
  else {
    for (const { channel, told, detail } of channels) {
      await printLine(context, `${channel}: ${told ? 'told' : 'failed'}${formatDetail(detail)}`)
    }
  }
  return channels.every(({ told }) => told) ? 0 : 10
}

const formatDetail = (detail = ''): string => (detail === '' ? '' : ` (${cleanLine(detail)})`)
