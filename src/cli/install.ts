/** `cao install`: puts a profile into the store of this CAO, from a name, a file or an address. */
import { AppError } from '../domain/errors.ts'
import { profileNamePattern } from '../domain/profile.ts'
import type { InstalledBody } from '../protocol/profile-store.ts'
import { cleanLine } from './clean-text.ts'
import { parseAssignment } from './client-env.ts'
import type { CliContext, Command } from './command.ts'
import { flagOption, takePositionals, textOption, textsOption } from './parse-call.ts'
import { printJson, printLine } from './print.ts'
import { isProfilePath, readProfileFile } from './profile-file.ts'
import { formatFacts } from './table.ts'

export const installCommand: Command = {
  usage: `cao install SOURCE [--provider NAME] [--env KEY=VALUE]... [--force] [--json]

  SOURCE            the name of a profile that is known (a built-in one, to change it), a file NAME.md,
                    or https://HOST/…/NAME.md of a host that CAO_PROFILE_ALLOWED_HOSTS names
  --provider NAME   written into the profile; else it stays as it says, or is chosen at launch
  --env KEY=VALUE   kept among your variables ("cao env"), for \${KEY} in profiles
  --force           replaces a profile of the same name
  What can not be launched is not installed, and nothing is written then.`,
  options: {
    provider: { type: 'string' },
    env: { type: 'string', multiple: true },
    force: { type: 'boolean' },
  },
  async run({ options, positionals, context }) {
    const { SOURCE = '' } = takePositionals(positionals, ['SOURCE'])
    const provider = textOption(options, 'provider')
    const env = textsOption(options, 'env').map(parseAssignment)
    const keep = {
      ...(provider === undefined ? {} : { provider }),
      ...(env.length === 0 ? {} : { env_vars: Object.fromEntries(env) }),
      force: flagOption(options, 'force'),
    }
    const isFile = isProfilePath(SOURCE)
    const given = isFile ? await readProfileFile(SOURCE, context) : undefined
    if (!isFile && !/^https:/i.test(SOURCE)) requireSource(SOURCE)
    const client = await context.openClient()
    const how = { signal: context.signal }
    const installed =
      given === undefined
        ? await client.installProfile({ source: SOURCE, ...keep }, how)
        : await client.saveProfile({ ...given, ...keep }, how)
    await printInstalled(installed, { context, isJson: flagOption(options, 'json') })
    return 0
  },
}

function requireSource(text: string): void {
  if (profileNamePattern.test(text)) return
  const hint = text.includes('://') ? 'only https:// is fetched' : 'a file is named with its path and ends in .md'
  throw new AppError('BAD_REQUEST', `${JSON.stringify(text)} is no profile: ${hint}`)
}

export async function printInstalled(
  installed: InstalledBody,
  { context, isJson }: { readonly context: CliContext; readonly isJson: boolean },
): Promise<void> {
  if (isJson) return printJson(context, installed)
  const { agent_name: name, unresolved_vars: unresolved } = installed
  const tools = installed.allowed_tools.includes('*') ? 'all, without limit' : installed.allowed_tools.join(', ')
  await printLine(context, `${name} is installed`)
  await printLine(
    context,
    formatFacts([
      ['file', installed.context_file],
      ['provider', installed.provider ?? 'chosen at launch'],
      ['tools', tools === '' ? 'none' : tools],
      ...(unresolved === null ? [] : [['no value yet', unresolved.join(', ')] as const]),
    ]),
  )
  for (const warning of installed.warnings) context.note(`Note: ${cleanLine(warning)}`)
}
