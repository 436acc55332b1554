/** The text that a person or CAO typed, from what Claude Code records of it. Pure. */

const pastePattern = /<pasted_content id="([^"\n]*)">\n([\s\S]*?)\n<\/pasted_content id="\1">/g
/** Prompts that the program makes for itself, as when a sub-agent in the background has ended. */
const ownPattern = /^<task-notification>/

/** A paste that the composer showed as a placeholder is recorded inside a mark of its own. */
export function unwrapPaste(text: string): string {
  return text.replaceAll(pastePattern, '$2').trim()
}

/** What the interface did by itself, on a slash command or on `!`, is recorded beside the prompts. */
const localPattern = /^<(?:command-|local-command-|bash-)/

export const isLocalCommand = (text: string): boolean => localPattern.test(text)
export const isOwnPrompt = (text: string): boolean => ownPattern.test(text)
