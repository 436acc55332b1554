/**
 * Which tools an agent may use: lists in upstream's vocabulary, what an entry reaches, and what two lists have in common. Pure.
 *
 * An entry is a tool (`fs_read`), a group (`fs_*`, `*`), an MCP server (`@docs`, which reaches `@docs/search`) or `@builtin`: the
 * tools of a CLI that no other word of the vocabulary names. A list of undefined is no limit, an empty one reaches nothing.
 */
export type ToolList = readonly string[] | undefined

/** The words that stand for tools of a CLI itself; a provider maps each to its own names. */
export const cliTools = ['execute_bash', 'fs_read', 'fs_write', 'fs_list', 'web_fetch'] as const
export type CliTool = (typeof cliTools)[number]

const otherWords: readonly string[] = ['*', 'fs_*', '@builtin', 'discovery']
const serverPattern = /^@[A-Za-z0-9_-]{1,64}(?:\/[A-Za-z0-9_.*-]{1,128})?$/

/** Whether `word` means anything in a list of tools: it is of the vocabulary, a server, or a group with something of them in it. */
export function isKnownTool(word: string): boolean {
  if (otherWords.includes(word) || serverPattern.test(word)) return true
  return cliTools.some((tool) => covers(word, tool))
}

/** Whether everything that `tool` reaches is reached by `entry`, too. */
function covers(entry: string, tool: string): boolean {
  if (entry === tool) return true
  if (entry.endsWith('*')) return tool.startsWith(entry.slice(0, -1))
  return entry.startsWith('@') && !entry.includes('/') && tool.startsWith(`${entry}/`)
}

export function allowsTool(list: ToolList, tool: string): boolean {
  return list === undefined || list.some((entry) => covers(entry, tool))
}

/** Whether the server may be there at all: the whole of it, or some of its tools. */
export function allowsServer(list: ToolList, name: string): boolean {
  return allowsTool(list, `@${name}`) || list?.some((entry) => entry.startsWith(`@${name}/`)) === true
}

/**
 * What both lists reach, and nothing else. Two entries that overlap are nested, one in the other, since all of them are
 * words or beginnings of words: the narrower one is what they share.
 */
export function intersectTools(one: ToolList, other: ToolList): ToolList {
  if (one === undefined) return other
  if (other === undefined) return one
  const shared = one.flatMap((a) => other.flatMap((b) => (covers(a, b) ? [b] : covers(b, a) ? [a] : [])))
  return [...new Set(shared)]
}
