/** `cao config`: the options of the table in `protocol/options.ts`, as settings.json and the environment have them. */
import { AppError } from '../domain/errors.ts'
import { readSettings, updateSettings } from '../home/settings-file.ts'
import {
  findOption,
  type OptionName,
  optionNames,
  optionOf,
  parseOption,
  requireOptionName,
  type Settings,
  unknownSettings,
  writeSetting,
} from '../protocol/options.ts'
import { type Action, runAction } from './actions.ts'
import { cleanLine } from './clean-text.ts'
import type { Call, CliContext, Command } from './command.ts'
import { flagOption, takePositionals } from './parse-call.ts'
import { prepareHome } from './prepare-home.ts'
import { printJson, printLine } from './print.ts'
import { requirePerson } from './require-person.ts'
import { mask, readSecret } from './secret.ts'
import { type Column, formatTable } from './table.ts'

export const configCommand: Command = {
  usage: `cao config list
       cao config get NAME
       cao config set NAME VALUE
       cao config unset NAME
       cao config path

  list    every option: what holds, and whether the environment, settings.json or the default says so
  get     the value of one
  set     write it into settings.json; a server sees it at its next start
  unset   take it out of settings.json again
  path    where settings.json is

  NAME is a name of the list or its environment variable. A flag of cao-server and the environment win over settings.json.
  The value of a secret is read from stdin.`,
  options: {},
  run: (call) => runAction(actions, call),
}

const actions: Readonly<Record<string, Action>> = { list, get, set, unset, path: showPath }

type Shown = {
  readonly name: OptionName
  readonly value: unknown
  readonly source: string
  readonly env: string | null
  readonly default: unknown
  readonly meaning: string
  readonly takes: string
  readonly applies_at: string
  /** Why what stands there can not be used. */
  readonly error: string | null
}

function show(context: CliContext, settings: Settings, name: OptionName): Shown {
  const row = optionOf(name)
  const facts = {
    name,
    env: row.env ?? null,
    default: row.default ?? null,
    meaning: row.meaning,
    takes: row.type.words,
    applies_at: row.appliesAt,
  }
  try {
    const { value = null, source } = findOption(name, { env: context.env, settings })
    const isHidden = row.isSecret === true && value !== null
    return { ...facts, value: isHidden ? mask : value, source, error: null }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { ...facts, value: null, source: 'invalid', error: error.message }
  }
}

/** As `config set` takes it. */
function formatValue({ name, value }: Shown): string {
  if (value === null) return ''
  return optionOf(name).isSecret === true ? mask : optionOf(name).type.format(value)
}

const columns: readonly Column<Shown>[] = [
  { title: 'OPTION', text: ({ name }) => name },
  { title: 'VALUE', text: (shown) => shown.error ?? formatValue(shown) },
  { title: 'FROM', text: ({ source }) => source },
  { title: 'VARIABLE', text: ({ env }) => env ?? '' },
]

async function list({ options, positionals, context }: Call): Promise<void> {
  takePositionals(positionals, [])
  const settings = await readSettings(context.layout.settingsFile)
  const shown = optionNames.map((name) => show(context, settings, name))
  const unknown = unknownSettings(settings)
  if (flagOption(options, 'json')) return printJson(context, { options: shown, unknown })
  await printLine(context, formatTable(columns, shown))
  if (unknown.length > 0) {
    context.note(`in settings.json and not used: ${cleanLine(unknown.join(', '))}`)
  }
}

async function get({ options, positionals, context }: Call): Promise<void> {
  const { NAME = '' } = takePositionals<'NAME'>(positionals, ['NAME'])
  const name = requireOptionName(NAME)
  const shown = show(context, await readSettings(context.layout.settingsFile), name)
  if (shown.error !== null) throw new AppError('BAD_REQUEST', shown.error)
  if (flagOption(options, 'json')) return printJson(context, shown)
  await printLine(context, cleanLine(formatValue(shown)))
}

async function set({ options, positionals, context }: Call): Promise<void> {
  const { NAME = '', VALUE } = takePositionals<'NAME' | 'VALUE'>(positionals, ['NAME'], ['VALUE'])
  const name = requireOptionName(NAME)
  const isSecret = optionOf(name).isSecret === true
  if (isSecret && VALUE !== undefined) {
    const sentence = `the value of ${name} is a secret: give it on stdin, where no list of processes and no history has it`
    throw new AppError('BAD_REQUEST', sentence)
  }
  if (!isSecret && VALUE === undefined) throw new AppError('BAD_REQUEST', 'VALUE is missing; --help shows the usage')
  const value = parseOption(name, VALUE ?? (await readSecret(context, name)))
  await change(context, name, value)
  const shown = show(context, await readSettings(context.layout.settingsFile), name)
  if (flagOption(options, 'json')) return printJson(context, shown)
  context.note(`${name} is set; a server sees it at its next start`)
  if (shown.source === 'environment') context.note(`${shown.env} in your environment wins over it`)
}

async function unset({ options, positionals, context }: Call): Promise<void> {
  const { NAME = '' } = takePositionals<'NAME'>(positionals, ['NAME'])
  const name = requireOptionName(NAME)
  await change(context, name, undefined)
  const shown = show(context, await readSettings(context.layout.settingsFile), name)
  if (flagOption(options, 'json')) await printJson(context, shown)
}

async function change(context: CliContext, name: OptionName, value: unknown): Promise<void> {
  requirePerson(context)
  await prepareHome(context.layout)
  await updateSettings(context, (settings) => writeSetting(settings, name, value))
}

async function showPath({ options, positionals, context }: Call): Promise<void> {
  takePositionals(positionals, [])
  const { settingsFile } = context.layout
  if (flagOption(options, 'json')) return printJson(context, { path: settingsFile })
  await printLine(context, settingsFile)
}
