/** The parts of a scripted agent's screen, found from the bottom up. Pure. */
import { type BottomBox, findBottomBox } from '../../screen/box.ts'
import type { Regions } from '../../screen/rules.ts'
import type { Snapshot } from '../../screen/snapshot.ts'

export type ScriptedRegion =
  /** The last line of a screen without a frame. */
  | 'plain'
  /** Title of the frame; '' for the composer. */
  | 'frame'
  /** Below the frame. */
  | 'footer'
  /** The line above composer and queued messages, when it starts in the first column. */
  | 'activity'

export type ScriptedScreen = {
  readonly box: BottomBox | undefined
  readonly regions: Regions<ScriptedRegion>
}

const queuedLine = /^ {2}↳ /

export function cutRegions(snapshot: Snapshot): ScriptedScreen {
  const box = findBottomBox(snapshot.lines, { cols: snapshot.size.cols, footerLinesMax: 1 })
  const last = snapshot.lines.findLast((line) => line.trim() !== '')
  if (box === undefined) {
    return { box, regions: { plain: last, frame: undefined, footer: undefined, activity: undefined } }
  }
  const above = box.above.findLast((line) => !queuedLine.test(line))
  return {
    box,
    regions: { plain: undefined, frame: box.title ?? '', footer: box.footer.join('\n'), activity: above ?? '' },
  }
}
