/** Width of text in terminal columns, as far as cutting a sidebar off needs it. */
const widePattern =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u
const zeroPattern = /\p{Mn}|\p{Me}|[\u200b-\u200f]/u

/** The beginning of `text` that fits in `columns`. */
export function cutColumns(text: string, columns: number): string {
  let used = 0
  let kept = ''
  for (const character of text) {
    used += zeroPattern.test(character) ? 0 : widePattern.test(character) ? 2 : 1
    if (used > columns) return kept
    kept += character
  }
  return kept
}
