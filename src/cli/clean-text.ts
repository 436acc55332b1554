/**
 * Text that an agent, a program or a file name had a hand in, made safe to print on a person's terminal: no
 * escape sequence can move the cursor, change the title or the clipboard, and no invisible character can make
 * a line read differently than it is. Pure.
 *
 * Source: ECMA-48 (control functions), Unicode TR9 (directional formatting).
 */

// biome-ignore format: one alternative per line reads better.
const sequences = new RegExp(
  [
    // OSC, DCS, SOS, PM, APC: up to BEL or ST; one without an end takes its line with it.
    '(?:\\u001b[\\]PX^_]|[\\u009d\\u0090\\u0098\\u009e\\u009f])[^\\u0007\\u001b\\u009c\\n]*(?:\\u0007|\\u001b\\\\|\\u009c)?',
    // CSI
    '(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]?',
    // Two- and three-character escapes
    '\\u001b[ -/]*[0-~]?',
  ].join('|'),
  'g',
)
const controlsButNewlineAndTab = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g
const directional = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Several lines: newline and tab stay. */
export function cleanText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(sequences, '')
    .replace(controlsButNewlineAndTab, '')
    .replace(directional, '')
}

/** Nothing left out, for a text that a person is to decide on: what could hide or move something is shown by its number. */
export const showExactly = (text: string): string =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`)

/** One line: every run of white space becomes one blank. */
export function cleanLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim()
}
