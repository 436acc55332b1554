/**
 * What a person's settings and trust file say, in the form that Gemini CLI and programs made from it share. They are only read.
 */
import { access, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Fields, fieldsOf, parseFields } from '../fields.ts'

/** Comments are allowed there. Pure; what can not be read is as if there were no settings. */
export function readSettings(text: string): Fields {
  return parseFields(withoutComments(text)) ?? {}
}

/** Strings are kept whatever they hold. Pure. */
function withoutComments(text: string): string {
  return text.replaceAll(
    /("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g,
    (_, quoted: string | undefined) => quoted ?? '',
  )
}

export type Trust = 'trusted' | 'refused' | 'undecided'

/** What the person decided about `directory`, the nearest decision first. */
export async function loadTrust(trustFile: string, directory: string): Promise<Trust> {
  const decisions = readSettings(await readIfThere(trustFile))
  for (let at = directory; ; at = dirname(at)) {
    const decision = decisions[at]
    if (decision === 'DO_NOT_TRUST' && at === directory) return 'refused'
    if (decision === 'TRUST_FOLDER') return 'trusted'
    if (dirname(at) === at) return 'undecided'
  }
}

/** Whether the program asks for trust at all. `byDefault`: where the person has not said. */
export function asksForTrust(settings: Fields, byDefault: boolean): boolean {
  const { enabled } = fieldsOf(fieldsOf(settings, 'security'), 'folderTrust')
  return typeof enabled === 'boolean' ? enabled : byDefault
}

/** The folder brings settings of its own, which could run programs. `personDir`: the person's, which is none of a project. */
export async function bringsSettings(directory: string, name: string, personDir: string): Promise<boolean> {
  const path = join(directory, name)
  if (path === personDir) return false
  try {
    await access(path)
    return true
  } catch {
    return false
  }
}

/** Empty when there is no such file. */
export async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error) return ''
    throw error
  }
}
