/**
 * What the person's own folder of Gemini CLI (`~/.gemini`) holds: their settings, which folders they trust, and what must stay
 * theirs in an agent's home (login, memory, commands, extensions). It is only read.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Fields } from '../fields.ts'
import { readIfThere, readSettings } from '../gemini_family/own-settings.ts'

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

async function listFolder(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return []
    throw error
  }
}
