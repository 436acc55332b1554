/**
 * What the person's own configuration of Codex says that a launch depends on: the default mode, and whether they have
 * decided about a directory. Read line by line, as much TOML as these few keys need; what is written otherwise is not found.
 */
import { access, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { OwnMode } from './permissions.ts'

/** `text` of a `config.toml`. Pure. */
export function readOwnMode(text: string): OwnMode {
  const top = text.split(/^\s*\[/m, 1)[0] ?? ''
  const find = (key: string) => new RegExp(String.raw`^\s*${key}\s*=\s*["']([^"'\n]+)["']`, 'm').exec(top)?.[1]
  return { asks: find('approval_policy'), sandbox: find('sandbox_mode') }
}

/** Whether the person has said to trust one of these directories or not to. Pure. */
export function hasDecided(text: string, directories: readonly string[]): boolean {
  return directories.some((directory) =>
    [JSON.stringify(directory), `'${directory}'`].some((quoted) => text.includes(`[projects.${quoted}]`)),
  )
}

export const loadOwnSettings = async (configDir: string): Promise<string> => {
  try {
    return await readFile(join(configDir, 'config.toml'), 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error) return ''
    throw error
  }
}

export type Surroundings = {
  /** The directory and those above it, as far as its repository goes. */
  readonly directories: readonly string[]
  /** One of them brings settings, hooks or MCP servers of its own. */
  readonly hasSettings: boolean
}

export async function loadSurroundings(cwd: string, configDir: string): Promise<Surroundings> {
  const directories: string[] = []
  for (let at = cwd; ; at = dirname(at)) {
    directories.push(at)
    if ((await isThere(join(at, '.git'))) || dirname(at) === at) break
  }
  // Without a repository only the directory itself counts.
  const root = directories.at(-1) ?? cwd
  const counted = (await isThere(join(root, '.git'))) ? directories : [cwd]
  const settings = counted.map((directory) => join(directory, '.codex')).filter((path) => path !== configDir)
  const found = await Promise.all(settings.map(isThere))
  return { directories: counted, hasSettings: found.includes(true) }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch {
    return false
  }
}
