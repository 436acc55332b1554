/**
 * What the person's own folder of Gemini CLI (`~/.gemini`) holds: their settings, which folders they trust, and what must stay
 * theirs in an agent's home (login, memory, commands, extensions). It is only read.
 */
import { access, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Fields, fieldsOf, parseFields } from '../fields.ts'

/**
 * Not linked: the settings, which the agent gets with ours among them, and what Gemini CLI keeps of its conversations and
 * projects, by which one agent's conversation is told from all others.
 */
const ownEntries: ReadonlySet<string> = new Set([
  'settings.json',
  'tmp',
  'history',
  'projects.json',
  'state.json',
  'trustedFolders.json',
])

export type OwnHome = {
  readonly settings: Fields
  /** Names of entries to be linked. */
  readonly entries: readonly string[]
}

export async function loadOwnHome(geminiDir: string): Promise<OwnHome> {
  const names = await listFolder(geminiDir)
  return {
    settings: readSettings(await readIfThere(join(geminiDir, 'settings.json'))),
    entries: names.filter((name) => !ownEntries.has(name) && !name.endsWith('.tmp') && !name.endsWith('.lock')),
  }
}

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

/** Whether Gemini CLI asks for trust at all. */
export function asksForTrust(settings: Fields): boolean {
  return fieldsOf(fieldsOf(settings, 'security'), 'folderTrust')['enabled'] !== false
}

/** The folder brings settings of its own, which could run programs. `geminiDir`: the person's own, which is none of a project. */
export async function bringsSettings(directory: string, geminiDir: string): Promise<boolean> {
  const path = join(directory, '.gemini')
  if (path === geminiDir) return false
  try {
    await access(path)
    return true
  } catch {
    return false
  }
}

async function listFolder(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return []
    throw error
  }
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error) return ''
    throw error
  }
}
