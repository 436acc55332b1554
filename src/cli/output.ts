/** `cao output`: what an agent has said or shows. */
import { AppError } from '../domain/errors.ts'
import type { Command } from './command.ts'
import { flagOption, requireTerminalId, takePositionals, textOption } from './parse-call.ts'
import { printAgentText, printJson } from './print.ts'

const modes = ['last', 'full', 'screen'] as const
type Mode = (typeof modes)[number]
const isMode = (text: string): text is Mode => (modes as readonly string[]).includes(text)

export const outputCommand: Command = {
  usage: `cao output TERMINAL [--mode last|full|screen] [--json]

  --mode last    the agent's last answer, from its own records where it has some (this is the default)
  --mode screen  what a person would see now
  --mode full    that, and what has scrolled off it as far as its terminal keeps it
  --json         with where the text was read`,
  options: { mode: { type: 'string' } },
  async run({ options, positionals, context }) {
    const { TERMINAL = '' } = takePositionals(positionals, ['TERMINAL'])
    const id = requireTerminalId(TERMINAL)
    const mode = textOption(options, 'mode') ?? 'last'
    if (!isMode(mode)) throw new AppError('BAD_REQUEST', `--mode is one of ${modes.join(', ')}, and not "${mode}"`)
    const client = await context.openClient()
    const output = await client.readOutput(id, mode, { signal: context.signal })
    // Undefined: a server of an earlier version, which does not tell.
    if (mode === 'last' && output.is_current === false) {
      context.note(`this is the answer of an earlier turn; "cao explain ${id}" says what the agent is doing now`)
    }
    if (output.is_truncated === true) {
      context.note('more was printed than is here: GET /terminals/ID/output/range gives the whole log in slices')
    }
    if (flagOption(options, 'json')) await printJson(context, output)
    else await printAgentText(context, output.output)
    return 0
  },
}
