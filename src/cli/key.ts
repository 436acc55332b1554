/** `cao key`: one key stroke, for dialogs and menus. */
import { AppError } from '../domain/errors.ts'
import type { Command } from './command.ts'
import { flagOption, requireTerminalId, takePositionals } from './parse-call.ts'
import { printJson } from './print.ts'

export const keyCommand: Command = {
  usage: `cao key TERMINAL KEY

  KEY is one of Enter Escape Tab BTab Space BSpace Up Down Left Right Home End PageUp PageDown, F1 to F12, one letter or
  digit; with C-, M- or S- before it.`,
  options: {},
  async run({ options, positionals, context }) {
    const { TERMINAL = '', KEY: key = '' } = takePositionals(positionals, ['TERMINAL', 'KEY'])
    const id = requireTerminalId(TERMINAL)
    if (key === '') throw new AppError('BAD_REQUEST', 'KEY is empty; --help lists the keys')
    const client = await context.openClient()
    const pressed = await client.pressKey(id, key, { signal: context.signal })
    if (flagOption(options, 'json')) await printJson(context, pressed)
    return 0
  },
}
