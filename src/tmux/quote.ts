/**
 * Writing values into tmux command lines so that they arrive byte for byte.
 *
 * Two layers are separate on purpose: `quote` protects a word from the command parser and belongs
 * around every value; `escapeFormat` protects text from format expansion (`#{…}`, `#(command)`)
 * and belongs only where tmux expands the argument: names, directories and pipe commands.
 * Source: tmux(1), COMMAND PARSING AND EXECUTION and FORMATS; cmd-parse.y, yylex_token.
 */
import { assert } from '../lib/assert.ts'

/** A `%` that begins a word and no pane id begins a directive (`%if`). */
const plainWord = /^(?:%\d+|[A-Za-z0-9_@+,./:-][A-Za-z0-9_@%+,./:-]*)$/
// eslint-disable-next-line no-control-regex
const needsEscapes = /[\x00-\x1f\x7f]/

/**
 * One word of a command line that stands for exactly `value`; may itself be quoted again, as in a branch of if-shell.
 * The word holds no newline, so it fits one line of control mode.
 * Errors: AssertionFault when `value` holds a NUL byte, which no tmux argument can carry.
 */
export function quote(value: string | Uint8Array): string {
  if (typeof value !== 'string') return quoteBytes(value)
  assert(!value.includes('\0'), 'a tmux argument can not hold a NUL byte')
  if (needsEscapes.test(value)) return quoteBytes(new TextEncoder().encode(value))
  if (plainWord.test(value)) return value
  return `'${value.replaceAll("'", String.raw`'\''`)}'`
}

/** Octal escapes keep every byte, also one that is not UTF-8 (0xff raw would end the parser's input). */
function quoteBytes(bytes: Uint8Array): string {
  let out = '"'
  for (const byte of bytes) {
    assert(byte !== 0, 'a tmux argument can not hold a NUL byte')
    const char = String.fromCharCode(byte)
    out += /[A-Za-z0-9 _.,:/=+@-]/.test(char) ? char : `\\${byte.toString(8).padStart(3, '0')}`
  }
  return `${out}"`
}

/**
 * Text that format expansion turns back into exactly `text`.
 * A run of # before [ is left alone by tmux (it would begin a style) and so must not be doubled.
 */
export function escapeFormat(text: string): string {
  return text.replaceAll(/#+\[?/g, (run) => (run.endsWith('[') ? run : run + run))
}

/** As escapeFormat, for arguments that tmux passes through strftime as well: pipe-pane commands, display-message. */
export function escapeFormatAndTime(text: string): string {
  return escapeFormat(text.replaceAll('%', '%%'))
}
