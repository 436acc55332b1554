/**
 * What may be typed, and whether what the composer shows is it. Pure.
 *
 * A paste must never carry control characters: up to tmux 3.6 an ESC in it can end the bracket early, and a
 * composer would take the rest as keys. Newline and tab stay; every kind of line end becomes a newline.
 */
import { formatHeader, formatTyped, isRaw, type Message } from '../domain/message.ts'
import type { Composer } from '../providers/provider.ts'
import type { Receiver } from './receiver.ts'

/** The text without ESC and other control characters (C0 but newline and tab, DEL, C1). */
export function sanitizeTyped(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
}

const squeeze = (text: string): string => text.replace(/\s+/g, '')

/** Where the text of a message between agents would act on the program instead of being read: at the beginning of a word. */
const mentionPattern = /(^|\s)@(?=\S)/g

/**
 * What is typed for a message into this receiver; the same at every call, since a crash may lie between two. Raw input is typed as
 * it is. The header line leads every other one, so that no `/`, `!` or `#` of the body is a command; what still acts inside a
 * text is a mention, which a backslash before it makes a plain word.
 */
export function toTyped(message: Message, receiver: Pick<Receiver, 'quirks' | 'bodyFile'>): string {
  const whole = sanitizeTyped(formatTyped(message))
  if (isRaw(message)) return whole
  if (isTooLong(message, receiver)) {
    const file = receiver.bodyFile(message)
    return `${formatHeader(message)}\nThis message is too long to be typed (${message.body.length} characters). Read all of it in the file ${file} and do what it says.`
  }
  return receiver.quirks.hasMentions === true ? whole.replace(mentionPattern, '$1\\@') : whole
}

export function isTooLong(message: Message, { quirks }: Pick<Receiver, 'quirks'>): boolean {
  return !isRaw(message) && quirks.typedCharsMax !== undefined && message.body.length > quirks.typedCharsMax
}

/** Whether a draft is exactly this text: a composer may have wrapped it. What it does not show of a long one is not known. */
export function isWholeDraft(composer: Composer, typed: string): boolean {
  return composer.kind === 'draft' && squeeze(composer.text) === squeeze(typed)
}

export type DraftOwner = 'absent' | 'empty' | 'ours' | 'foreign'

/** A visible part of our text must be this long to be known as ours, characters without blanks. */
const partLengthMin = 6

/**
 * Whose draft the composer holds, given that we pasted `typed`. A composer may show a part of a long text (it
 * scrolls, wraps, or collapses a paste into a placeholder with a count).
 */
export function ownerOfDraft(composer: Composer, typed: string): DraftOwner {
  switch (composer.kind) {
    case 'absent':
    case 'empty':
      return composer.kind
    case 'collapsed': {
      const lines = typed.split('\n').length
      // CLIs count lines with or without the last, and characters in different units.
      const isLines = composer.lines === undefined || Math.abs(composer.lines - lines) <= 1
      const isChars = composer.chars === undefined || Math.abs(composer.chars - typed.length) <= typed.length * 0.1 + 2
      return isLines && isChars ? 'ours' : 'foreign'
    }
    case 'draft': {
      const seen = squeeze(composer.text)
      const ours = squeeze(typed)
      if (seen === ours) return 'ours'
      return seen.length >= partLengthMin && ours.includes(seen) ? 'ours' : 'foreign'
    }
  }
}

/** Whether `accepted`, as the agent recorded it, is the raw input `typed`. Agents trim outer blanks and line ends. */
export function isSameInput(accepted: string, typed: string): boolean {
  const plain = (text: string) => text.replace(/\r\n?/g, '\n').trim()
  return plain(accepted) === plain(typed)
}
