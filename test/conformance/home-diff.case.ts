/**
 * A person's HOME before and after a CLI ran in it: what CAO may have changed there is nothing. What the CLI itself keeps is named here,
 * each place with its reason; a CLI without an entry fails. Files that were there must be there, to the byte, but where a
 * place says by what rule the CLI writes into the person's own file.
 */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join, relative } from 'node:path'

export type OwnPlace = {
  /** Below HOME; a folder ends in `/`. */
  readonly path: string
  readonly why: string
  /** For a file of the person's into which the CLI writes: whether all that they had in it is still there. */
  readonly keeps?: (before: string, after: string) => boolean
}

type Json = Readonly<Record<string, unknown>>

/** Each of the person's entries is as it was. */
const keepsEntries = (before: string, after: string): boolean => {
  const now = JSON.parse(after) as Json
  return Object.entries(JSON.parse(before) as Json).every(
    ([key, value]) => JSON.stringify(now[key]) === JSON.stringify(value),
  )
}
const keepsLines = (before: string, after: string): boolean => {
  const now = new Set(after.split('\n'))
  return before.split('\n').every((line) => now.has(line))
}
const keepsBeginning = (before: string, after: string): boolean => after.startsWith(before.trimEnd())

export const ownPlaces: Readonly<Record<string, readonly OwnPlace[]>> = {
  claude_code: [
    { path: '.claude.json', why: 'trust of folders, counters', keeps: keepsEntries },
    { path: '.claude/', why: 'conversations, history, sessions, backups, shell snapshots, plugins' },
    { path: '.cache/claude-cli-nodejs/', why: 'logs of MCP servers' },
    { path: '.local/share/applications/claude-code-url-handler.desktop', why: 'opens its links' },
    { path: '.config/mimeapps.list', why: 'the same, where the desktop is told of it by xdg-mime', keeps: keepsLines },
  ],
  codex: [
    {
      path: '.codex/config.toml',
      why: 'folders that the person trusted by an answer, notices seen',
      keeps: keepsBeginning,
    },
    { path: '.codex/', why: 'records, history, its databases and logs, its own skills' },
  ],
  opencode_cli: [
    { path: '.local/share/opencode/', why: 'its database, logs, snapshots' },
    { path: '.local/state/opencode/', why: 'the model used last, history of prompts, locks' },
    { path: '.cache/opencode/', why: 'packages and lists that it fetched' },
    {
      path: '.config/opencode/opencode.json',
      why: 'it adds the address of its schema where the file names none',
      keeps: keepsEntries,
    },
    { path: '.config/opencode/', why: 'node_modules for plugins, with package.json and .gitignore' },
    { path: '.npm/', why: "the cache of npm, by which it fetches its providers' packages" },
  ],
  gemini_cli: [{ path: '.gemini/trustedFolders.json', why: 'folders that the person trusted by an answer' }],
  qwen_cli: [{ path: '.qwen/', why: 'memory, who uses it, folders trusted by an answer' }],
  copilot_cli: [
    { path: '.copilot/', why: 'conversations, logs, history, what it asked before' },
    { path: '.cache/copilot/', why: 'the program itself, unpacked, and what tools the MCP servers named' },
    { path: '.cache/Microsoft/DeveloperTools/deviceid', why: 'an id of the machine' },
  ],
  kimi_cli: [
    { path: '.kimi-code/credentials/', why: 'login' },
    { path: '.kimi-code/sessions/', why: 'conversations' },
    { path: '.kimi-code/workspace-trust/', why: 'folders that the person trusted by an answer' },
  ],
}

export type HomeTree = ReadonlyMap<string, string>

/** What each file and link of `home` holds; folders count by what is in them. */
export function readHome(home: string): HomeTree {
  const entries = readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory())
  return new Map(entries.map((entry) => readEntry(home, join(entry.parentPath, entry.name))))
}

function readEntry(home: string, path: string): readonly [string, string] {
  const name = relative(home, path)
  const stat = lstatSync(path)
  if (stat.isSymbolicLink()) return [name, `link to ${readlinkSync(path)}`]
  return [name, stat.isFile() ? readFileSync(path, 'latin1') : 'no file']
}

export type HomeDifference = {
  /** The person's files that are gone, or hold something else than a place allows. */
  readonly changed: readonly string[]
  /** New files where the CLI is not known to keep any. */
  readonly foreign: readonly string[]
}

/** `providers`: the CLIs that ran. Errors: one of them has no entry in `ownPlaces`. */
export function compareHome(before: HomeTree, after: HomeTree, providers: readonly string[]): HomeDifference {
  const places = providers.flatMap((provider) => {
    const own = ownPlaces[provider]
    if (own === undefined)
      throw new Error(`say in ${import.meta.filename} what ${provider} itself keeps in HOME, and why`)
    return own
  })
  const isKept = ([path, text]: readonly [string, string]): boolean => {
    const now = after.get(path)
    const rule = places.find((place) => place.path === path)?.keeps
    return now !== undefined && (now === text || (rule?.(text, now) ?? false))
  }
  const isOwn = (path: string): boolean =>
    places.some((place) => (place.path.endsWith('/') ? path.startsWith(place.path) : path === place.path))
  return {
    changed: [...before].filter((entry) => !isKept(entry)).map(([path]) => path),
    foreign: [...after.keys()].filter((path) => !before.has(path) && !isOwn(path)),
  }
}

/** Files of the person's into which the CLI writes, and that name something of CAO. */
export function findOurTraces(after: HomeTree, provider: string): readonly string[] {
  const settings = (ownPlaces[provider] ?? []).filter(({ keeps }) => keeps !== undefined).map(({ path }) => path)
  return settings.filter((path) => /cao-mcp-server|CAO_|\.cao\//.test(after.get(path) ?? ''))
}
