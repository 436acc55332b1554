/**
 * The parts of opencode's screen. It is a full-screen program: the composer is the block at the bottom whose last
 * row is a border (`╹▀▀▀`), and the line below it tells of work. What an agent prints is above that block and may
 * look like anything, so only the block's own place counts. Permissions and questions stand in place of the composer. Pure. Source: fixtures/opencode_cli/1.18.33.
 */
import type { Regions } from '../../screen/rules.ts'
import type { Snapshot } from '../../screen/snapshot.ts'
import { cutColumns } from './columns.ts'
import { findEndings } from './prompt.ts'

export type OpencodeRegion =
  /** Below the composer of a conversation. */
  | 'footer'
  /** Below the composer of the home view, where no conversation is. */
  | 'home'
  /** Last rows of what stands in the composer's place. */
  | 'ending'
  /** The composer, when a palette or a list floats over the screen and takes the keys. */
  | 'cover'

export type Block = {
  readonly column: number
  /** Rows of the composer without bar and padding, top to bottom. */
  readonly rows: readonly string[]
  readonly footer: string
  readonly top: number
  readonly bottom: number
}

export type OpencodeScreen = {
  /** Undefined where it can not be typed into. */
  readonly block: Block | undefined
  /** Lines of the region `ending`. */
  readonly endings: readonly number[]
  readonly regions: Regions<OpencodeRegion>
}

const borderPattern = /^( *)╹▀{20,}/
/** Title row of a dialog that floats over the screen, as the command palette. */
const overlayPattern = /\S {6,}esc(?: |$)/
/** The home view centres its block; a conversation's stands at this column. */
const conversationColumn = 2
/** Lines below the border that hold anything: one; more where a sidebar ends beside it or an error is wrapped. */
const footerLinesMax = 3
const nowhere: Regions<OpencodeRegion> = { footer: undefined, home: undefined, ending: undefined, cover: undefined }

export function cutRegions(snapshot: Snapshot): OpencodeScreen {
  const { lines } = snapshot
  const block = findBlock(lines)
  if (block === undefined) {
    const endings = findEndings(lines)
    const ending = endings.length === 0 ? undefined : endings.map((at) => lines[at]).join('\n')
    return { block, endings, regions: { ...nowhere, ending } }
  }
  if (isCovered(snapshot, block)) {
    return { block: undefined, endings: [], regions: { ...nowhere, cover: block.rows.join('\n') } }
  }
  const region = block.column === conversationColumn ? 'footer' : 'home'
  return { block, endings: [], regions: { ...nowhere, [region]: block.footer } }
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
