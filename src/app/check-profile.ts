/**
 * What can be said about the text of a profile before anybody launches it. Pure. An error is what a launch would be refused for, the first
 * that there is; warnings are what is let pass and may not be meant.
 */
import { AppError } from '../domain/errors.ts'
import { findUnserved, type Profile, type ProfileRules } from '../domain/profile.ts'
import { isKnownTool } from '../domain/tools.ts'
import { parseProfile } from './parse-profile.ts'

export type ProfileFinding = {
  readonly severity: 'error' | 'warning'
  readonly message: string
  /** Name of the field; empty for the whole of it. */
  readonly path: string
}

export type ProfileCheck = { readonly profile: Profile | undefined; readonly findings: readonly ProfileFinding[] }

export type CheckContext = { readonly rules: ProfileRules; readonly providers: readonly string[] }

/** `name`: as its file is called; undefined where it has no file yet. */
export function checkProfile(text: string, context: CheckContext, name?: string): ProfileCheck {
  try {
    const profile = parseProfile(
      { name, text, file: name === undefined ? 'given' : `${name}.md`, source: '' },
      context.rules,
    )
    return { profile, findings: listWarnings(profile, context) }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { complaint, field, line } = error.data
    const where = typeof line === 'number' ? `line ${line}: ` : ''
    const message = typeof complaint === 'string' ? `${where}${complaint}` : error.message
    return {
      profile: undefined,
      findings: [{ severity: 'error', message, path: typeof field === 'string' ? field : '' }],
    }
  }
}

/** What is let pass and may not be meant. */
export function listWarnings(profile: Profile, { providers }: CheckContext): readonly ProfileFinding[] {
  const { provider } = profile
  const warn = (path: string, message: string): ProfileFinding => ({ severity: 'warning', message, path })
  return [
    ...(profile.description === ''
      ? [warn('description', 'it has no description: whoever chooses an agent reads that')]
      : []),
    ...(profile.systemPrompt === ''
      ? [warn('', 'there is no text after the front matter: the agent gets no prompt')]
      : []),
    ...profile.unknownFields.map((field) => warn(field, `the field ${field} is not known and says nothing`)),
    ...(profile.allowedTools ?? [])
      .filter((tool) => !isKnownTool(tool))
      .map((tool) => warn('allowedTools', `no tool is called ${JSON.stringify(tool)}`)),
    ...profile.unresolvedVariables.map((name) =>
      warn('', `\${${name}} has no value: set it with "cao env set ${name}"`),
    ),
    ...(provider === undefined || providers.includes(provider)
      ? []
      : [warn('provider', `${provider} is none of the providers of this CAO: ${providers.join(', ')}`)]),
    ...(provider === undefined ? [] : findUnserved(profile, provider)).map((note) =>
      warn(note.split(':')[0] ?? '', note),
    ),
  ]
}
