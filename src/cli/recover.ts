/** `cao recover`: takes lost or exited agents up again, with their conversation. */

import { AppError, errorTable } from '../domain/errors.ts'
import type { AdoptedBody } from '../protocol/recover.ts'
import { cleanLine } from './clean-text.ts'
import { parseAssignment, readClientEnv } from './client-env.ts'
import type { CliContext, Command } from './command.ts'
import { flagOption, requireTerminalId, takePositionals, textsOption } from './parse-call.ts'
import { printJson, printLine } from './print.ts'

async function adoptAll(context: CliContext, named: string | undefined, isJson: boolean): Promise<number> {
  if (named !== undefined) throw new AppError('BAD_REQUEST', '--adopt takes in every agent that has no row; name none')
  const client = await context.openClient()
  const outcome = await client.adopt({ signal: context.signal })
  if (isJson) await printJson(context, outcome)
  else await printLine(context, formatAdopted(outcome))
  return outcome.errors.length === 0 ? 0 : errorTable.LAUNCH_FAILED.exitCode
}

export function formatAdopted({ adopted, errors }: AdoptedBody): string {
  const lines = [
    ...adopted.map((id) => `taken in: ${id}`),
    ...errors.map(({ id, error }) => `not taken in: ${id}: ${cleanLine(error)}`),
  ]
  return lines.length === 0 ? 'every agent that runs is known' : lines.join('\n')
}

export const recoverCommand: Command = {
  usage: `cao recover [TERMINAL] [--env KEY=VALUE]
       cao recover --adopt

  Without TERMINAL every lost agent comes back (tmux or the machine died); a terminal that is named may also be one
  whose agent has exited. The conversation goes on where the agent's own record ends, queued messages are delivered.
  --env KEY=VALUE   a variable that the agent was first started with; CAO keeps only the names
  --adopt           take in agents that run and that the database does not know, as after its loss; what waited for
                    them is not known any more`,
  options: { env: { type: 'string', multiple: true }, adopt: { type: 'boolean' } },
  async run({ options, positionals, context }) {
    const { TERMINAL } = takePositionals<'TERMINAL'>(positionals, [], ['TERMINAL'])
    if (flagOption(options, 'adopt')) return adoptAll(context, TERMINAL, flagOption(options, 'json'))
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
