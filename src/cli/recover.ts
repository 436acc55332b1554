/** `cao recover`: takes lost or exited agents up again, with their conversation. */

import { cleanLine } from './clean-text.ts'
import { parseAssignment, readClientEnv } from './client-env.ts'
import type { Command } from './command.ts'
import { flagOption, requireTerminalId, takePositionals, textsOption } from './parse-call.ts'
import { printJson, printLine } from './print.ts'

export const recoverCommand: Command = {
  usage: `cao recover [TERMINAL] [--env KEY=VALUE]

  Without TERMINAL every lost agent comes back (tmux or the machine died); a terminal that is named may also be one
  whose agent has exited. The conversation goes on where the agent's own record ends, queued messages are delivered.
  --env KEY=VALUE   a variable that the agent was first started with; CAO keeps only the names`,
  options: { env: { type: 'string', multiple: true } },
  async run({ options, positionals, context }) {
    const { TERMINAL } = takePositionals<'TERMINAL'>(positionals, [], ['TERMINAL'])
    const id = TERMINAL === undefined ? undefined : requireTerminalId(TERMINAL)
    const env = Object.fromEntries(textsOption(options, 'env').map(parseAssignment))
    const params = { env_vars: env, client_env: readClientEnv(context.env) }
    const client = await context.openClient()
    const how = { signal: context.signal }
    const outcome =
      id === undefined
        ? await client.recoverAll(params, how)
        : { recovered: [(await client.recoverTerminal(id, params, how)).id], errors: [] }
    if (flagOption(options, 'json')) await printJson(context, outcome)
    else {
      for (const one of outcome.recovered) await printLine(context, `recovered: ${one}`)
      for (const { id: one, error } of outcome.errors)
        await printLine(context, `not recovered: ${one}: ${cleanLine(error)}`)
      if (outcome.recovered.length + outcome.errors.length === 0) await printLine(context, 'no agent is lost')
    }
    return outcome.errors.length === 0 ? 0 : 10
  },
}
