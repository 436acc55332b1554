/** `cao env`: variables that a person keeps for profiles (`${NAME}`) and for the environment of agents, in `.env` of the home. */
import { AppError } from '../domain/errors.ts'
import { isReservedVariable } from '../domain/variable-names.ts'
import { isVariableName, readEnvFile, updateEnvFile, type Variables } from '../home/env-file.ts'
import { nearWords } from '../lib/near-words.ts'
import { type Action, runAction } from './actions.ts'
import { cleanLine } from './clean-text.ts'
import type { Call, Command } from './command.ts'
import { flagOption, takePositionals } from './parse-call.ts'
import { prepareHome } from './prepare-home.ts'
import { printJson, printLine } from './print.ts'
import { requirePerson } from './require-person.ts'
import { mask, readSecret } from './secret.ts'

export const envCommand: Command = {
  usage: `cao env list
       cao env set NAME
       cao env get NAME [--reveal]
       cao env unset NAME
       cao env path

  list    the names of the variables that are kept; values are masked
  set     keep a variable; its value is read from stdin, or asked for without showing it
  get     whether it is kept (exit code 4 when not); with --reveal its value, for scripts
  unset   forget it
  path    where they are kept

  Agents get them at their launch, and \${NAME} in a profile stands for the value. "set NAME VALUE" and "set NAME=VALUE" are taken as
  upstream takes them, with a warning: arguments can be read by others and stay in the history of your shell.`,
  options: { reveal: { type: 'boolean' } },
  async run(call) {
    if (flagOption(call.options, 'reveal') && call.positionals[0] !== 'get') {
      throw new AppError('BAD_REQUEST', '--reveal goes with get')
    }
    return runAction(actions, call)
  },
}

const actions: Readonly<Record<string, Action>> = { list, set, get, unset, path: showPath }

async function list({ options, positionals, context }: Call): Promise<void> {
  takePositionals(positionals, [])
  const names = Object.keys(await readEnvFile(context.layout.envFile)).toSorted()
  if (flagOption(options, 'json')) {
    const shown = names.map((name) => ({ name, value: mask, reaches_agents: !isReservedVariable(name) }))
    return printJson(context, shown)
  }
  for (const name of names) await printLine(context, `${name}=${mask}`)
}

async function set({ options, positionals, context }: Call): Promise<void> {
  const { NAME: given = '', VALUE } = takePositionals<'NAME' | 'VALUE'>(positionals, ['NAME'], ['VALUE'])
  const cut = VALUE === undefined ? given.indexOf('=') : -1
  const name = cut < 0 ? given : given.slice(0, cut)
  const argument = cut < 0 ? VALUE : given.slice(cut + 1)
  if (!isVariableName(name)) {
    throw new AppError('BAD_REQUEST', 'NAME is a name of a variable: letters, digits and _, and no digit first')
  }
  requirePerson(context)
  const value = argument ?? (await readSecret(context, name))
  await prepareHome(context.layout)
  await updateEnvFile(context, (kept) => ({ ...kept, [name]: value }))
  if (argument !== undefined) {
    context.note(`warning: the value stands in the history of your shell now; next time: cao env set ${name} < FILE`)
  }
  if (isReservedVariable(name)) {
    context.note(`${name} is filled into profiles only: CAO sets such names of an agent itself`)
  }
  if (flagOption(options, 'json')) await printJson(context, { name, value: mask })
  else context.note(`${name} is kept; agents that are launched from now on have it`)
}

async function get({ options, positionals, context }: Call): Promise<void> {
  const { NAME = '' } = takePositionals<'NAME'>(positionals, ['NAME'])
  const value = requireKept(await readEnvFile(context.layout.envFile), NAME)
  const shown = flagOption(options, 'reveal') ? value : mask
  if (flagOption(options, 'json')) return printJson(context, { name: NAME, value: shown })
  await context.out(`${shown}\n`)
}

async function unset({ options, positionals, context }: Call): Promise<void> {
  const { NAME = '' } = takePositionals<'NAME'>(positionals, ['NAME'])
  requirePerson(context)
  requireKept(await readEnvFile(context.layout.envFile), NAME)
  await updateEnvFile(context, (kept) => Object.fromEntries(Object.entries(kept).filter(([name]) => name !== NAME)))
  if (flagOption(options, 'json')) await printJson(context, { name: NAME })
}

/** Errors: NOT_FOUND. */
function requireKept(kept: Variables, name: string): string {
  const value = Object.hasOwn(kept, name) ? kept[name] : undefined
  if (value !== undefined) return value
  const near = nearWords(name, Object.keys(kept))
  const hint = near.length === 0 ? '"cao env list" shows those there are' : `is it ${near.join(' or ')}?`
  throw new AppError('NOT_FOUND', `no variable ${cleanLine(JSON.stringify(name))} is kept; ${hint}`)
}

async function showPath({ options, positionals, context }: Call): Promise<void> {
  takePositionals(positionals, [])
  const { envFile } = context.layout
  if (flagOption(options, 'json')) return printJson(context, { path: envFile })
  await printLine(context, envFile)
}
