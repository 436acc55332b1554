/** `cao shutdown`: ends agents. The server stays; `cao server stop` ends that. */
import { AppError } from '../domain/errors.ts'
import { parseSessionName } from '../domain/ids.ts'
import type { DeletedBody } from '../protocol/session.ts'
import { cleanLine } from './clean-text.ts'
import type { Command } from './command.ts'
import { flagOption, takePositionals, textOption } from './parse-call.ts'
import { printJson, printLine } from './print.ts'

export const shutdownCommand: Command = {
  usage: `cao shutdown --session NAME | --all

  --session NAME  end the agents of this session
  --all           end all agents, and then the tmux server that they ran in`,
  options: { session: { type: 'string' }, all: { type: 'boolean' } },
  async run({ options, positionals, context }) {
    takePositionals(positionals, [])
    const session = textOption(options, 'session')
    const isAll = flagOption(options, 'all')
    if ((session === undefined) === !isAll) {
      throw new AppError('BAD_REQUEST', 'say either --session NAME or --all; "cao ls" lists the sessions')
    }
    const name = session === undefined ? undefined : requireSessionName(session)
    const client = await context.openClient()
    const deleted =
      name === undefined
        ? await client.shutdownAll({ signal: context.signal })
        : await client.deleteSession(name, { signal: context.signal })
    if (flagOption(options, 'json')) await printJson(context, deleted)
    else await printLine(context, formatDeleted(deleted))
    if (deleted.errors.length === 0) return 0
    const failures = deleted.errors.map(({ id, error }) => `${id}: ${cleanLine(error)}`).join('; ')
    throw new AppError('CONFLICT', `not everything has ended (${failures}); try again, "cao ls" shows what is left`)
  },
}

/** Errors: BAD_REQUEST. */
function requireSessionName(text: string): string {
  const name = parseSessionName(text)
  if (name !== undefined) return name
  throw new AppError('BAD_REQUEST', `${JSON.stringify(text)} is no name of a session; "cao ls" lists them`)
}

function formatDeleted({ deleted }: DeletedBody): string {
  return deleted.length === 0 ? 'nothing was running' : `ended: ${deleted.join(', ')}`
}
