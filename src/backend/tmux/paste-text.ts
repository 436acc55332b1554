/**
 * What may be pasted into an agent: text, newlines and tabs. Any other control character could end
 * the bracket of the paste early (ESC [ 201 ~), or act as a key.
 */

// Carriage returns become newlines; C0 but \t and \n, DEL, and C1 (U+009B begins a sequence, too) are dropped.
// eslint-disable-next-line no-control-regex
const controls = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g

/** The text without anything that a terminal program could take for a key or a command. */
export function sanitizePaste(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(controls, '')
}
