/** `cao demo`: hands over to the demo program, which needs nothing of this process. */
import type { Command } from './command.ts'
import { flagOption, takePositionals, textOption } from './parse-call.ts'

export const demoCommand: Command = {
  usage: `cao demo [--keep] [--provider NAME]

  --keep           leave the team running at the end, and say how to look at it and how to end it
  --provider NAME  what the workers are: scripted (the default), opencode_cli or claude_code`,
  options: { keep: { type: 'boolean' }, provider: { type: 'string' } },
  async run({ options, positionals, context }) {
    takePositionals(positionals, [])
    const provider = textOption(options, 'provider')
    return context.runProgram([
      ...context.programs.demo,
      ...(flagOption(options, 'keep') ? ['--keep'] : []),
      ...(provider === undefined ? [] : [`--provider=${provider}`]),
    ])
  },
}
