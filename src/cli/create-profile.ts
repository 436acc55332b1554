/** `cao profile create`: a new profile from options, or from a template and its answers. */
import { join, resolve } from 'node:path'
import { composeProfile } from '../domain/compose-profile.ts'
import { AppError } from '../domain/errors.ts'
import { profileNamePattern } from '../domain/profile.ts'
import { createPrivateFile, readPrivateFile, writePrivateFile } from '../home/private-file.ts'
import { profileContentLengthMax } from '../protocol/profile-store.ts'
import type { Call, CliContext } from './command.ts'
import { printInstalled } from './install.ts'
import { flagOption, takePositionals, textOption } from './parse-call.ts'
import { printJson, printLine } from './print.ts'

export function createProfile(call: Call): Promise<number> {
  const template = textOption(call.options, 'template')
  return template === undefined ? createFromOptions(call) : createFromTemplate(call, template)
}

async function createFromOptions({ options, positionals, context }: Call): Promise<number> {
  const { NAME = '' } = takePositionals(positionals, ['NAME'])
  const name = requireName(NAME)
  for (const option of ['config', 'out']) {
    if (textOption(options, option) !== undefined) throw new AppError('BAD_REQUEST', `--${option} needs --template`)
  }
  const prompt = textOption(options, 'prompt') ?? (context.isTerminal.stdin ? '' : await context.readStdin())
  const content = composeProfile(
    {
      name,
      description: textOption(options, 'description'),
      role: textOption(options, 'role'),
      provider: textOption(options, 'provider'),
      model: textOption(options, 'model'),
      allowedTools: textOption(options, 'tools')?.split(','),
      tags: textOption(options, 'tags')?.split(','),
    },
    prompt,
  )
  const client = await context.openClient()
  const params = { content, name, force: flagOption(options, 'force') }
  const installed = await client.saveProfile(params, { signal: context.signal })
  await printInstalled(installed, { context, isJson: flagOption(options, 'json') })
  return 0
}

async function createFromTemplate({ options, positionals, context }: Call, template: string): Promise<number> {
  takePositionals(positionals, [])
  const config = await readConfig(textOption(options, 'config'), context)
  const client = await context.openClient()
  const { content } = await client.previewTemplate(template, config, { signal: context.signal })
  const out = textOption(options, 'out')
  const isForced = flagOption(options, 'force')
  const isJson = flagOption(options, 'json')
  if (out === undefined) {
    const installed = await client.saveProfile({ content, force: isForced }, { signal: context.signal })
    await printInstalled(installed, { context, isJson })
    return 0
  }
  const file = join(resolve(context.cwd, out), `${requireName(String(config['name']))}.md`)
  if (isForced) await writePrivateFile(file, content)
  else if ((await createPrivateFile(file, content)) === 'exists') {
    throw new AppError('NAME_TAKEN', `${file} is there already; --force replaces it`)
  }
  if (isJson) await printJson(context, { template, file })
  else await printLine(context, `written: ${file}`)
  return 0
}

async function readConfig(path: string | undefined, context: CliContext): Promise<Readonly<Record<string, unknown>>> {
  if (path === undefined)
    throw new AppError('BAD_REQUEST', '--template needs --config FILE, a JSON file with its answers')
  const file = resolve(context.cwd, path)
  const text = await readPrivateFile(file, profileContentLengthMax)
  if (text === undefined) throw new AppError('BAD_REQUEST', `there is no file ${file}`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new AppError('BAD_REQUEST', `${file} is not JSON: ${error.message}`, { cause: error })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AppError('BAD_REQUEST', `${file} must hold one JSON object`)
  }
  return value as Readonly<Record<string, unknown>>
}

/** Errors: BAD_REQUEST. */
export function requireName(text: string): string {
  if (profileNamePattern.test(text)) return text
  throw new AppError(
    'BAD_REQUEST',
    `${JSON.stringify(text)} is no name of a profile: letters, digits, "_", "-", at most 64`,
  )
}
