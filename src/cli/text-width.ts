/**
 * How many columns a text takes on a terminal, and cutting it to fit: wide East Asian characters and emoji take
 * two, combining marks none. Close enough for a table; a terminal that disagrees shifts one row by a column.
 * Source: Unicode TR11.
 */
const zeroWidth = /^(?:\p{Mark}|\p{Default_Ignorable_Code_Point})+$/u
const wide =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}])/u

let segmenter: Intl.Segmenter | undefined

/** Made when the first text needs it: it costs a quick command milliseconds. */
function splitClusters(text: string): Iterable<{ readonly segment: string }> {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  return segmenter.segment(text)
}

function clusterWidth(cluster: string): number {
  if (zeroWidth.test(cluster)) return 0
  return wide.test(cluster) || cluster.includes('\ufe0f') ? 2 : 1
}

const isPlain = (text: string): boolean => /^[ -~]*$/.test(text)

export function textWidth(text: string): number {
  if (isPlain(text)) return text.length
  let width = 0
  for (const { segment } of splitClusters(text)) width += clusterWidth(segment)
  return width
}

/** At most `columns` wide; what does not fit ends in "…". */
export function cutToWidth(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text
  let width = 0
  let kept = ''
  for (const { segment } of splitClusters(text)) {
    width += clusterWidth(segment)
    if (width > columns - 1) break
    kept += segment
  }
  return columns > 0 ? `${kept}…` : ''
}
