/**
 * What stands in the composer: typed text and pastes, in order. A large paste is shown as a placeholder and sent
 * whole. Pure values; editing happens at the end only.
 */
export type DraftPart = { readonly kind: 'typed' | 'paste'; readonly text: string }
export type Draft = readonly DraftPart[]

export const emptyDraft: Draft = []
/** A paste of more lines or more characters than this is shown as a placeholder. */
export const pasteLinesShownMax = 5
export const pasteCharsShownMax = 800

export function addTyped(draft: Draft, text: string): Draft {
  const last = draft.at(-1)
  if (last?.kind !== 'typed') return [...draft, { kind: 'typed', text }]
  return [...draft.slice(0, -1), { kind: 'typed', text: last.text + text }]
}

export function addPaste(draft: Draft, text: string): Draft {
  if (text === '') return draft
  return countLines(text) > pasteLinesShownMax || text.length > pasteCharsShownMax
    ? [...draft, { kind: 'paste', text }]
    : addTyped(draft, text)
}

/** Removes the last character, or the whole last placeholder. */
export function eraseLast(draft: Draft): Draft {
  const last = draft.at(-1)
  if (last === undefined) return draft
  const rest = draft.slice(0, -1)
  if (last.kind === 'paste') return rest
  const text = last.text.replace(/[^]$/u, '')
  return text === '' ? rest : [...rest, { kind: 'typed', text }]
}

/** Exactly what will be sent. */
export function draftText(draft: Draft): string {
  return draft.map((part) => part.text).join('')
}

/** What is shown: placeholders instead of large pastes. */
export function draftShown(draft: Draft): string {
  return draft.map((part) => (part.kind === 'paste' ? placeholderOf(part.text) : part.text)).join('')
}

function placeholderOf(text: string): string {
  return `[Pasted ${countLines(text)} lines · ${text.length} chars]`
}

function countLines(text: string): number {
  return text.split(/\r\n|\r|\n/).length
}
