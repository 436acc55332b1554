/** `cao profile`: which profiles there are, what one says, which suits a task, what is wrong with one; a new one, and one less. */
import type { Client } from '../client/client.ts'
import { AppError } from '../domain/errors.ts'
import type { ProfileSummaryBody } from '../protocol/profile.ts'
import { cleanLine, cleanText } from './clean-text.ts'
import type { Call, CliContext, Command } from './command.ts'
import { createProfile, requireName } from './create-profile.ts'
import { flagOption, numberOption, takePositionals, textOption } from './parse-call.ts'
import { printJson, printLine } from './print.ts'
import { isProfilePath, readProfileFile } from './profile-file.ts'
import { type Column, formatTable } from './table.ts'

const actions: Readonly<Record<string, (call: Call) => Promise<number>>> = {
  list,
  show,
  search,
  find: search,
  validate,
  templates,
  create: createProfile,
  remove,
}

export const profileCommand: Command = {
  usage: `cao profile list
       cao profile show NAME
       cao profile search QUERY [--limit N]           (find means the same)
       cao profile validate NAME|FILE
       cao profile create NAME [--description TEXT] [--role NAME] [--provider NAME] [--model NAME]
                          [--tools A,B] [--tags A,B] [--prompt TEXT] [--force]
       cao profile create --template NAME --config FILE [--out DIR] [--force]
       cao profile templates
       cao profile remove NAME [--yes]

  list      those that there are, and why one can not be loaded
  search    those that suit the words of QUERY, the best first
  validate  what is wrong with one; exit code 1 when it can not be launched
  create    a new one in the store of this CAO; without --prompt its text is read from stdin. With a template from its
            answers, a JSON file; --out writes the text into a folder instead
  templates  what a profile can be made from; with --json and --template what one asks for
  remove    only from the store of this CAO
  --force   replaces one of the same name
  --json    all fields`,
  options: {
    limit: { type: 'string', isNumber: true },
    description: { type: 'string' },
    role: { type: 'string' },
    provider: { type: 'string' },
    model: { type: 'string' },
    tools: { type: 'string' },
    tags: { type: 'string' },
    prompt: { type: 'string' },
    template: { type: 'string', short: 't' },
    config: { type: 'string', short: 'c' },
    out: { type: 'string', short: 'o' },
    force: { type: 'boolean' },
    yes: { type: 'boolean', short: 'y' },
  },
  async run(call) {
    const [action = '', ...positionals] = call.positionals
    const run = Object.hasOwn(actions, action) ? actions[action] : undefined
    if (run === undefined) {
      const names = 'list, show, search, validate, templates, create, remove'
      throw new AppError('BAD_REQUEST', action === '' ? `name one of ${names}` : `"${action}" is none of ${names}`)
    }
    return run({ ...call, positionals })
  },
}

const columns: readonly Column<ProfileSummaryBody>[] = [
  { title: 'NAME', text: ({ name }) => name },
  { title: 'SOURCE', text: ({ source }) => source },
  { title: 'ROLE', text: ({ role }) => role ?? '' },
  { title: 'PROVIDER', text: ({ provider }) => provider ?? '' },
  { title: 'DESCRIPTION', text: ({ error, description }) => (error === null ? description : `NOT LOADABLE: ${error}`) },
]

async function list({ options, positionals, context }: Call): Promise<number> {
  takePositionals(positionals, [])
  const client = await context.openClient()
  return printProfiles(await client.listProfiles({ signal: context.signal }), { options, context })
}

async function search({ options, positionals, context }: Call): Promise<number> {
  const { QUERY = '' } = takePositionals(positionals, ['QUERY'])
  const limit = numberOption(options, 'limit', { above: 0, most: 100, isWhole: true })
  const client = await context.openClient()
  return printProfiles(await client.searchProfiles(QUERY, limit, { signal: context.signal }), { options, context })
}

async function printProfiles(
  profiles: readonly ProfileSummaryBody[],
  { options, context }: Pick<Call, 'options' | 'context'>,
): Promise<number> {
  if (flagOption(options, 'json')) await printJson(context, profiles)
  else if (profiles.length === 0) await printLine(context, 'no profile says so of itself')
  else await printLine(context, formatTable(columns, profiles, context.isTerminal.stdout ? context.columns : undefined))
  return 0
}

async function show({ options, positionals, context }: Call): Promise<number> {
  const { NAME = '' } = takePositionals(positionals, ['NAME'])
  const client = await context.openClient()
  const profile = await client.getProfile(requireName(NAME), { signal: context.signal })
  if (flagOption(options, 'json')) await printJson(context, profile)
  else {
    const { system_prompt: prompt, ...fields } = profile
    const lines = Object.entries(fields).map(([field, value]) => `${field}: ${formatValue(value)}`)
    await printLine(context, `${cleanText(lines.join('\n'))}\n\n${cleanText(typeof prompt === 'string' ? prompt : '')}`)
  }
  return 0
}

const formatValue = (value: unknown): string => (typeof value === 'string' ? cleanLine(value) : JSON.stringify(value))

async function validate({ options, positionals, context }: Call): Promise<number> {
  const { NAME = '' } = takePositionals(positionals, ['NAME'])
  const isFile = isProfilePath(NAME)
  const given = isFile ? await readProfileFile(NAME, context) : undefined
  const client = await context.openClient()
  const { content } = given ?? (await readKnown(client, requireName(NAME), context))
  const check = await client.validateProfile(content, { signal: context.signal })
  if (flagOption(options, 'json')) await printJson(context, check)
  else {
    for (const { severity, message } of check.messages) await printLine(context, `${severity}: ${cleanLine(message)}`)
    await printLine(context, check.valid ? `${NAME} can be launched` : `${NAME} can not be launched`)
  }
  return check.valid ? 0 : 1
}

/** The server says where it lies. Errors: PROFILE_UNKNOWN. */
async function readKnown(client: Client, name: string, context: CliContext): Promise<{ readonly content: string }> {
  const found = (await client.listProfiles({ signal: context.signal })).find((one) => one.name === name)
  if (found === undefined)
    throw new AppError('PROFILE_UNKNOWN', `no profile is called ${name}; "cao profile list" lists them`)
  if (found.file === null) throw new AppError('PROFILE_INVALID', found.error ?? `${name} can not be read`)
  return readProfileFile(found.file, context)
}

async function templates({ options, positionals, context }: Call): Promise<number> {
  takePositionals(positionals, [])
  const name = textOption(options, 'template')
  const client = await context.openClient()
  if (name !== undefined) {
    const [category = '', rest = ''] = name.split('/')
    await printJson(context, await client.getTemplateSchema(category, rest, { signal: context.signal }))
    return 0
  }
  const list = await client.listTemplates({ signal: context.signal })
  if (flagOption(options, 'json')) await printJson(context, list)
  else {
    const table = [
      { title: 'TEMPLATE', text: (one: { readonly name: string }) => one.name },
      { title: 'DESCRIPTION', text: (one: { readonly description: string }) => one.description },
    ]
    await printLine(context, formatTable(table, list))
  }
  return 0
}

async function remove({ options, positionals, context }: Call): Promise<number> {
  const { NAME = '' } = takePositionals(positionals, ['NAME'])
  const name = requireName(NAME)
  const client = await context.openClient()
  if (context.isTerminal.stdin && !flagOption(options, 'yes')) {
    const answer = await context.ask(`Remove the profile ${name}? [y/N] `)
    if (!/^y(es)?$/i.test(answer.trim())) throw new AppError('BAD_REQUEST', 'not removed')
  }
  const removed = await client.removeProfile(name, { signal: context.signal })
  if (flagOption(options, 'json')) await printJson(context, removed)
  else await printLine(context, `removed: ${removed.file}`)
  return 0
}
