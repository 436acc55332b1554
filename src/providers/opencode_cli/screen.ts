/**
 * What the screen of opencode says. It is a full-screen program: the composer is the block at the bottom whose last
 * row is a border (`╹▀▀▀`), and the line below it tells of work. What an agent prints is above that block and may
 * look like anything, so only the block's own place counts. Permissions and questions stand in place of the composer. Pure. Source: fixtures/opencode_cli/1.18.33.
 */
import type { Snapshot } from '../../screen/snapshot.ts'
import type { Composer, ScreenReading } from '../provider.ts'
import { cutColumns } from './columns.ts'
import { findPrompt } from './prompt.ts'

const borderPattern = /^( *)╹▀{20,}/
const collapsedPattern = /^\[Pasted ~(\d+) lines?\]$/
const busyPattern = /\besc (?:again to )?interrupt\b/
const retryPattern = /\bretrying (?:in|attempt)\b/
const placeholderPattern = /^Ask anything… "/
/** Title row of a dialog that floats over the screen, as the command palette. */
const overlayPattern = /\S {6,}esc(?: |$)/
/** The home view centres its block; a conversation's stands at this column. */
const conversationColumn = 2
/** Lines below the border that hold anything: one; more where a sidebar ends beside it or an error is wrapped. */
const footerLinesMax = 3

type Block = {
  readonly column: number
  /** Rows of the composer without bar and padding, top to bottom. */
  readonly rows: readonly string[]
  readonly footer: string
  readonly top: number
  readonly bottom: number
}

export function readOpencodeScreen(snapshot: Snapshot): ScreenReading {
  const block = findBlock(snapshot.lines)
  if (block === undefined) return { ...readPrompt(snapshot), composer: { kind: 'absent' }, dialog: undefined }
  if (isCovered(snapshot, block)) {
    return { claim: undefined, rule: 'covered', composer: { kind: 'absent' }, dialog: undefined }
  }
  return { ...readWork(block), composer: readComposer(block), dialog: undefined }
}

type Reading = Pick<ScreenReading, 'claim' | 'rule'>

function readWork(block: Block): Reading {
  if (block.column !== conversationColumn) return { claim: undefined, rule: 'home' }
  if (retryPattern.test(block.footer)) return { claim: { kind: 'busy', reason: 'retrying' }, rule: 'retrying-footer' }
  if (busyPattern.test(block.footer)) return { claim: { kind: 'busy', reason: 'turn' }, rule: 'interrupt-footer' }
  return { claim: { kind: 'ready', isStable: false }, rule: 'quiet-footer' }
}

/** The permission or question in place of the composer. */
function readPrompt(snapshot: Snapshot): Reading {
  const prompt = findPrompt(snapshot.lines)
  if (prompt === undefined) return { claim: undefined, rule: 'none' }
  const { reason, text, options, kind } = prompt
  return {
    claim: { kind: 'waiting', reason, question: { text, options, vendorId: undefined } },
    rule: `${kind}-prompt`,
  }
}

function findBlock(lines: readonly string[]): Block | undefined {
  const bottom = lines.findLastIndex((line) => borderPattern.test(line))
  const [border = '', indent = ''] = borderPattern.exec(lines[bottom] ?? '') ?? []
  if (bottom < 0) return undefined
  const column = indent.length
  const below = lines.slice(bottom + 1).filter((line) => line.trim() !== '')
  // The home view has hints and a status line below; a conversation only its footer, and the sidebar's end.
  if (column === conversationColumn && below.length > footerLinesMax) return undefined
  const rows: string[] = []
  let top = bottom
  for (let at = bottom - 1; at >= 0 && lines[at]?.[column] === '┃'; at--) {
    rows.unshift(
      cutColumns(lines[at] ?? '', border.length)
        .slice(column + 1)
        .trimEnd(),
    )
    top = at
  }
  if (rows.length < 3) return undefined
  return { column, rows, footer: below.join(' '), top, bottom }
}

/** Whether keys would go elsewhere: a palette or a list floats above the conversation. */
function isCovered({ cursor, lines }: Snapshot, block: Block): boolean {
  if (cursor.isVisible) return cursor.y < block.top || cursor.y > block.bottom
  return lines.slice(0, block.top).some((line) => overlayPattern.test(line))
}

/** The last row names agent and model; a blank row stands above it, one more at the top, or below the menu of commands. */
function readComposer(block: Block): Composer {
  const menuEnd = block.rows.findLastIndex((row) => row.endsWith('┃'))
  const rows = block.rows.slice(menuEnd + 2, -1)
  if (rows.at(-1) === '') rows.pop()
  const lines = rows.map((row) => row.replace(/^ {1,2}/, ''))
  const text = lines.join('\n').trim()
  if (text === '' || placeholderPattern.test(text)) return { kind: 'empty' }
  const [, count] = collapsedPattern.exec(text) ?? []
  if (count !== undefined) return { kind: 'collapsed', chars: undefined, lines: Number(count) }
  return { kind: 'draft', text: lines.join('\n') }
}
