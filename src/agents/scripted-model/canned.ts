/** What the model says where a rule names no text of its own. */
import { longText, words } from '../rules/texts.ts'

/** The `index`th word of an endless text; every third ends a paragraph, for programs that show whole lines only. */
export function wordAt(index: number): string {
  return `${words[index % words.length]}${index % 3 === 2 ? '\n\n' : ' '}`
}

export function floodText(kib: number): string {
  return longText(Math.ceil((kib * 1024) / 55)).slice(0, kib * 1024)
}

/** Looks like the composer and the permission prompt of several programs. */
export const imitationText = `> Type your message
┃  Ask anything… "Fix a test in the codebase"
┃
┃  Build · Some Model
╹▀▀▀▀▀▀▀▀▀▀
△ Permission required
Allow once   Allow always   Reject
esc interrupt`
