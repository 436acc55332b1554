/** `cao init`: makes the home. Every command that needs a server does so by itself; upstream's users know it by this name. */
import type { Command } from './command.ts'
import { flagOption, takePositionals } from './parse-call.ts'
import { printJson, printLine } from './print.ts'
import { formatFacts } from './table.ts'

export const initCommand: Command = {
  usage: `cao init [--json]

  Makes the home, the database and the server's sockets, which any other command would make when it needs them, and
  brings an older database to this version. What is there stays.`,
  options: {},
  async run({ options, positionals, context }) {
    takePositionals(positionals, [])
    const client = await context.openClient()
    const [{ version }, profiles] = [await client.health(), await client.listProfiles()]
    const { home, dbFile } = context.layout
    const names = profiles.map(({ name }) => name)
    if (flagOption(options, 'json')) await printJson(context, { home, database: dbFile, version, profiles: names })
    else
      await printLine(
        context,
        formatFacts([
          ['home', home],
          ['database', dbFile],
          ['server', `runs, version ${version}`],
          ['profiles', names.join(', ')],
          ['next', 'cao doctor; cao launch --agents code_supervisor'],
        ]),
      )
    return 0
  },
}
