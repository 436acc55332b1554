/**
 * The person's `config.toml` with what CAO adds to it, as text: everything of theirs stays as it stands, word for word. As
 * much TOML is understood as the three places need where something is added. Pure.
 */
import { formatToml } from '../toml.ts'

export type ConfigAdditions = {
  /** undefined: as the person's own says. */
  readonly permissionMode: string | undefined
  readonly disabledTools: readonly string[]
  readonly hooks: readonly {
    readonly event: string
    readonly matcher?: string
    readonly command: string
    readonly timeout: number
  }[]
}

const modeLine = /^[ \t]*default_permission_mode[ \t]*=[ \t]*["']([^"'\n]*)["'].*$/m
const firstTable = /^[ \t]*\[/m

/** What stands before the first table. */
const topOf = (text: string): string => text.slice(0, firstTable.exec(text)?.index ?? text.length)

/** undefined when they name none. */
export const readOwnMode = (text: string): string | undefined => modeLine.exec(topOf(text))?.[1]

export function addToConfig(text: string, { permissionMode, disabledTools, hooks }: ConfigAdditions): string {
  const moded = permissionMode === undefined ? text : setMode(text, permissionMode)
  const limited = disabledTools.length === 0 ? moded : disableTools(moded, disabledTools)
  return addHooks(limited, hooks)
}

function setMode(text: string, mode: string): string {
  const top = topOf(text)
  return `default_permission_mode = ${formatToml(mode)}\n${top.replace(modeLine, '')}${text.slice(top.length)}`
}

const toolsHead = /^[ \t]*\[tools\][^\n]*$/m
const disabledHead = /^[ \t]*disabled[ \t]*=[ \t]*\[/m

function disableTools(text: string, names: readonly string[]): string {
  const head = toolsHead.exec(text)
  if (head === null) return `${endLine(text)}\n[tools]\ndisabled = ${formatToml(names)}\n`
  const from = head.index + head[0].length
  const section = topOf(text.slice(from))
  const list = formatToml(names).slice(1, -1)
  const changed = disabledHead.test(section)
    ? section.replace(disabledHead, (found) => `${found}${list}, `)
    : `\ndisabled = [${list}]${section}`
  return `${text.slice(0, from)}${changed}${text.slice(from + section.length)}`
}

const hooksHead = /^[ \t]*hooks[ \t]*=[ \t]*\[/m

/** A list on one line can not be gone on with in the other form. */
function addHooks(text: string, hooks: ConfigAdditions['hooks']): string {
  const top = topOf(text)
  if (hooksHead.test(top)) {
    const list = hooks.map((hook) => `${formatToml(hook)}, `).join('')
    return `${top.replace(hooksHead, (found) => `${found}${list}`)}${text.slice(top.length)}`
  }
  const tables = hooks.map(
    ({ event, matcher, command, timeout }) =>
      `\n[[hooks]]\nevent = ${formatToml(event)}\n${matcher === undefined ? '' : `matcher = ${formatToml(matcher)}\n`}command = ${formatToml(command)}\ntimeout = ${timeout}\n`,
  )
  return `${endLine(text)}${tables.join('')}`
}

const endLine = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`)
