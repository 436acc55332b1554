/** `cao hold` and `cao release`: stop what CAO types into an agent, and let it go on. */
import type { Command } from './command.ts'
import { flagOption, requireTerminalId, takePositionals, textOption } from './parse-call.ts'
import { printJson, printLine } from './print.ts'

export const holdCommand: Command = {
  usage: `cao hold TERMINAL [--why TEXT] [--json]

  Nothing more is typed into the agent until "cao release", or until you send or type something to it; messages wait.
  --why TEXT  shown to those who look why`,
  options: { why: { type: 'string' } },
  async run({ options, positionals, context }) {
    const { TERMINAL = '' } = takePositionals(positionals, ['TERMINAL'])
    const id = requireTerminalId(TERMINAL)
    const client = await context.openClient()
    const held = await client.holdQueue(id, textOption(options, 'why'), { signal: context.signal })
    if (flagOption(options, 'json')) await printJson(context, held)
    else await printLine(context, `the queue of ${id} is held; messages that wait: ${held.queue_length}`)
    return 0
  },
}

export const releaseCommand: Command = {
  usage: 'cao release TERMINAL [--json]',
  options: {},
  async run({ options, positionals, context }) {
    const { TERMINAL = '' } = takePositionals(positionals, ['TERMINAL'])
    const id = requireTerminalId(TERMINAL)
    const client = await context.openClient()
    const released = await client.releaseQueue(id, { signal: context.signal })
    if (flagOption(options, 'json')) await printJson(context, released)
    else await printLine(context, `the queue of ${id} goes on; messages that wait: ${released.queue_length}`)
    return 0
  },
}
