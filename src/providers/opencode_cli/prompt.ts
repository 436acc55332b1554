/**
 * The permission prompt or question that stands where the composer would be: its kind, text and options. The API tells
 * the same with more text; where the screen holds all of it, both use the same words, so that one question is one. Pure.
 */
import { permissionOptions } from './event.ts'

export type Prompt = {
  /** `always`: the second page of "Allow always". `tabs`: several questions, or one with several answers. */
  readonly kind: 'permission' | 'always' | 'question' | 'tabs'
  readonly reason: 'permission' | 'question'
  readonly text: string
  readonly options: readonly string[]
}

export const ownAnswerLabel = 'Type your own answer'

/** Lines that hold anything, from the bottom up, among which the last row of a prompt is looked for. */
const bottomLines = 3
/** The sidebar begins beside the conversation after blanks; no row of a prompt has so many inside. */
const sidebarPattern = / {12,}\S.*$/

/** The lines that may be the last row of a prompt: those with a bar at the bottom of the screen. A sidebar's end may be among them. */
export function findEndings(lines: readonly string[]): readonly number[] {
  const bottom = lines.flatMap((line, at) => (line.trim() === '' ? [] : [at])).slice(-bottomLines)
  return bottom.filter((at) => /^ *┃/.test(lines[at] ?? ''))
}

/** The prompt whose last row is line `end`. */
export function readPromptAbove(lines: readonly string[], end: number, kind: Prompt['kind']): Prompt {
  return readPrompt(kind, rowsAbove(lines, end))
}

/** Rows of the block above line `end`, without bar and sidebar. A row without a bar ends the block, but for the one above `end`. */
function rowsAbove(lines: readonly string[], end: number): readonly string[] {
  const rows: string[] = []
  for (let at = end - 1; at >= 0; at--) {
    const [whole, row = ''] = /^ *┃(.*)$/.exec(lines[at] ?? '') ?? []
    if (whole === undefined && at < end - 1) break
    rows.unshift(row.replace(sidebarPattern, '').trim())
  }
  return rows
}

function readPrompt(kind: Prompt['kind'], rows: readonly string[]): Prompt {
  switch (kind) {
    case 'permission':
      return { kind, reason: 'permission', text: describePermission(rows), options: permissionOptions }
    case 'always':
      return { kind, reason: 'permission', text: textOf(rows), options: ['Confirm', 'Cancel'] }
    case 'tabs':
      return { kind, reason: 'question', text: textOf(rows), options: [] }
    case 'question':
      return { kind, reason: 'question', ...splitQuestion(rows) }
  }
}

const textOf = (rows: readonly string[]) => rows.filter((row) => row !== '').join('\n')

/** A shell command in one row is put as the API puts it. */
function describePermission(rows: readonly string[]): string {
  const said = rows.filter((row) => row !== '' && !row.startsWith('△'))
  const [title = '', command = ''] = said
  if (said.length === 2 && title === '# Shell command' && command.startsWith('$ ')) {
    return `Allow bash: ${command.slice(2)}`
  }
  return said.join('\n')
}

const optionPattern = /^(\d{1,2})\. (.+)$/

/** Options are numbered in order after the first blank row; what each means stands below it. */
function splitQuestion(rows: readonly string[]): { readonly text: string; readonly options: readonly string[] } {
  const first = rows.findLastIndex((row) => row.startsWith('1. '))
  const options: string[] = []
  for (const row of rows.slice(Math.max(first, 0))) {
    const [, number, label = ''] = optionPattern.exec(row) ?? []
    if (Number(number) === options.length + 1) options.push(label)
  }
  return {
    text: rows.slice(0, Math.max(first, 0)).join(' ').trim(),
    options: options.filter((label) => label !== ownAnswerLabel),
  }
}
