/**
 * The kinds of values that an option can have. Each reads a text (flag, environment, `cao config set`) and the JSON that
 * settings.json holds, and says in words what it takes. Pure.
 */
import { formatQuietHours, parseQuietHours, type QuietHours } from '../domain/notice-kind.ts'

export type OptionType<T> = {
  /** Stands after "takes": `a port, 0 to 65535`. */
  readonly words: string
  /** Undefined: no such value. */
  parse(given: unknown): { readonly value: T } | undefined
  /** As it is shown, and as `parse` reads it back. */
  format(value: T): string
  /** As it stands in settings.json. */
  toJson(value: T): unknown
}

const isShort = (given: unknown): given is string => typeof given === 'string' && !/[\0\n]/.test(given)

export const text: OptionType<string> = {
  words: 'one line of text',
  parse: (given) => (isShort(given) && given !== '' ? { value: given } : undefined),
  format: (value) => value,
  toJson: (value) => value,
}

/** With commas in a text, an array in JSON. */
export const list: OptionType<readonly string[]> = {
  words: 'texts with commas between them',
  parse(given) {
    const parts = typeof given === 'string' ? given.split(',') : given
    if (!Array.isArray(parts) || !parts.every(isShort)) return undefined
    return { value: parts.map((part) => part.trim()).filter((part) => part !== '') }
  },
  format: (value) => value.join(','),
  toJson: (value) => [...value],
}

/** `~/` stands for the person's home. */
export const folders: OptionType<readonly string[]> = {
  ...list,
  words: 'folders from "/" or "~/" on, with commas between them',
  parse(given) {
    const parsed = list.parse(given)
    return parsed?.value.every((path) => /^~?\//.test(path)) === true ? parsed : undefined
  },
}

const flagWords: Readonly<Record<string, boolean>> = {
  true: true,
  1: true,
  on: true,
  false: false,
  0: false,
  off: false,
}

export const flag: OptionType<boolean> = {
  words: 'true or false',
  parse(given) {
    const value = typeof given === 'boolean' ? given : typeof given === 'string' ? flagWords[given] : undefined
    return value === undefined ? undefined : { value }
  },
  format: String,
  toJson: (value) => value,
}

export function choice<const Word extends string>(...words: readonly Word[]): OptionType<Word> {
  return {
    words: words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`,
    parse(given) {
      const value = words.find((word) => word === given)
      return value === undefined ? undefined : { value }
    },
    format: (value) => value,
    toJson: (value) => value,
  }
}

/** Both ends included. */
export function wholeNumber(least: number, most: number): OptionType<number> {
  return {
    words: `a whole number from ${least} to ${most}`,
    parse(given) {
      const value = typeof given === 'string' && /^\d{1,15}$/.test(given) ? Number(given) : given
      const isGood = typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most
      return isGood ? { value } : undefined
    },
    format: String,
    toJson: (value) => value,
  }
}

const portNumber = wholeNumber(0, 65_535)

/** 0 is any free port, `none` is no TCP door. */
export const port: OptionType<number | 'none'> = {
  words: 'a port from 0 to 65535, or none',
  parse: (given) => (given === 'none' ? { value: given } : portNumber.parse(given)),
  format: String,
  toJson: (value) => value,
}

/** A program and its arguments: a JSON list of words, so that nothing has to guess where one ends. */
export const argv: OptionType<readonly string[]> = {
  words: 'a JSON list of words such as ["notify-send","CAO"]',
  parse(given) {
    const words = typeof given === 'string' ? parseJson(given) : given
    const isGood = Array.isArray(words) && words.length > 0 && words.every((word) => typeof word === 'string')
    return isGood && words[0] !== '' && !words.some((word) => word.includes('\0')) ? { value: words } : undefined
  },
  format: (value) => JSON.stringify(value),
  toJson: (value) => [...value],
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Some of these words, with commas in a text, an array in JSON. */
export function someOf<const Word extends string>(...words: readonly Word[]): OptionType<readonly Word[]> {
  const isWord = (part: string): part is Word => words.some((word) => word === part)
  return {
    words: `some of ${words.join(', ')}, with commas between them`,
    parse(given) {
      const parts = list.parse(given)?.value
      return parts?.every(isWord) === true ? { value: parts } : undefined
    },
    format: (value) => value.join(','),
    toJson: (value) => [...value],
  }
}

/** Local time, over midnight where the second is the earlier one. */
export const quietHours: OptionType<QuietHours> = {
  words: 'two times of day such as 22:00-07:30',
  parse(given) {
    const value = typeof given === 'string' ? parseQuietHours(given) : undefined
    return value === undefined ? undefined : { value }
  },
  format: formatQuietHours,
  toJson: formatQuietHours,
}

/** Columns and rows of a terminal. */
export const terminalSize: OptionType<{ readonly cols: number; readonly rows: number }> = {
  words: 'columns and rows such as 200x50, from 40x10 to 500x200',
  parse(given) {
    const [, cols = 0, rows = 0] =
      (typeof given === 'string' ? /^(\d{2,3})x(\d{2,3})$/.exec(given) : null)?.map(Number) ?? []
    return cols >= 40 && cols <= 500 && rows >= 10 && rows <= 200 ? { value: { cols, rows } } : undefined
  },
  format: ({ cols, rows }) => `${cols}x${rows}`,
  toJson: ({ cols, rows }) => `${cols}x${rows}`,
}
