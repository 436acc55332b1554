/** `cao token`: the tokens of the TCP door, for programs that can not use the Unix socket. */
import { readFile } from 'node:fs/promises'
import { AppError } from '../domain/errors.ts'
import type { Command } from './command.ts'
import { flagOption, takePositionals } from './parse-call.ts'
import { printJson, printLine } from './print.ts'

export const tokenCommand: Command = {
  usage: `cao token [--read-only] [--json]

  Prints the token that TCP asks for (Authorization: Bearer TOKEN). Whoever has it can do what you can: it types into your agents.
  --read-only  the one by which a program can look at everything and change nothing
  To make new ones, remove the files in CAO_HOME/run and start the server again.`,
  options: { 'read-only': { type: 'boolean' } },
  async run({ options, positionals, context }) {
    takePositionals(positionals, [])
    const { tokenFile, readTokenFile } = context.layout
    const isReadOnly = flagOption(options, 'read-only')
    const path = isReadOnly ? readTokenFile : tokenFile
    const token = await readToken(path)
    if (flagOption(options, 'json'))
      await printJson(context, { token, file: path, scope: isReadOnly ? 'read' : 'full' })
    else await printLine(context, token)
    return 0
  },
}

/** Errors: NOT_FOUND. */
async function readToken(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ENOENT')) throw cause
    const sentence =
      'there is no token yet: the server makes it when it first starts with its TCP door ("cao server start")'
    throw new AppError('NOT_FOUND', sentence, { cause })
  }
}
