/** From the words after the command's name to its options and positionals. Pure. */
import { AppError } from '../domain/errors.ts'
import { parseTerminalId } from '../domain/ids.ts'
import { parseArgs } from './builtins.ts'
import { type Command, commonOptions, type OptionTable, type OptionValues } from './command.ts'

export type ParsedCall = { readonly options: OptionValues; readonly positionals: readonly string[] }

/** Errors: BAD_REQUEST with a sentence that names the option. */
export function parseCall(name: string, command: Command, words: readonly string[]): ParsedCall {
  const options: OptionTable = { ...commonOptions, ...command.options }
  const args = command.takesText === true ? protectText(words, options) : [...words]
  refuseMissingValues(name, args, options)
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true, strict: true })
    return { options: values as OptionValues, positionals }
  } catch (error) {
    if (!isParseError(error)) throw error
    const sentence = error.message.split(/\.\s/)[0] ?? error.message
    const said = sentence.charAt(0).toLowerCase() + sentence.slice(1)
    throw new AppError('BAD_REQUEST', `${said}; "cao ${name} --help" lists the options`)
  }
}

/** What `parseArgs` refuses in three lines: an option that takes a value, and none that can be one follows. */
function refuseMissingValues(name: string, args: readonly string[], options: OptionTable): void {
  const end = args.indexOf('--')
  const words = end < 0 ? args : args.slice(0, end)
  for (const [index, word] of words.entries()) {
    const option = word.startsWith('--') ? word.slice(2) : ''
    const { type, isNumber } = options[option] ?? {}
    if (type !== 'string') continue
    const next = words[index + 1]
    if (next !== undefined && !/^-./s.test(next)) continue
    if (isNumber === true && next !== undefined && /^-\.?\d/.test(next)) throw notANumber(option, next)
    const isOption = next === undefined || findOption(next, options) !== undefined
    const hint = isOption || isNumber === true ? '' : `, and one that begins with "-" is written --${option}=${next}`
    throw new AppError('BAD_REQUEST', `--${option} takes a value${hint}; "cao ${name} --help" lists the options`)
  }
}

function isParseError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
}

/**
 * Puts the options first and everything else behind `--`, so that a text such as `-rf` or `--` stays a text. What is
 * spelled exactly as an option is one; text that looks like it goes behind a `--` of the person's own.
 */
function protectText(words: readonly string[], options: OptionTable): string[] {
  const known: string[] = []
  const texts: string[] = []
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    if (word === '--') {
      texts.push(...words.slice(index + 1))
      break
    }
    const option = findOption(word, options)
    if (option === undefined) {
      texts.push(word)
      continue
    }
    known.push(word)
    if (option === 'takes the next word' && index + 1 < words.length) known.push(words[++index] ?? '')
  }
  return [...known, '--', ...texts]
}

function findOption(word: string, options: OptionTable): 'is whole' | 'takes the next word' | undefined {
  for (const [name, { type, short }] of Object.entries(options)) {
    if (type === 'string' && word.startsWith(`--${name}=`)) return 'is whole'
    if (word === `--${name}` || (short !== undefined && word === `-${short}`)) {
      return type === 'string' ? 'takes the next word' : 'is whole'
    }
  }
  return undefined
}

/** The value of a text option; undefined when it was not given. */
export function textOption(options: OptionValues, name: string): string | undefined {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}

/** The values of a text option that may be given several times. */
export function textsOption(options: OptionValues, name: string): readonly string[] {
  const value = options[name]
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

export const flagOption = (options: OptionValues, name: string): boolean => options[name] === true

export type NumberLimits = { readonly above?: number; readonly most?: number; readonly isWhole?: boolean }

/** A number from 0 on, within the limits. Errors: BAD_REQUEST. */
export function numberOption(options: OptionValues, name: string, limits: NumberLimits = {}): number | undefined {
  const text = textOption(options, name)
  if (text === undefined) return undefined
  const value = Number(text)
  if (!/^\d+(\.\d+)?$/.test(text) || !Number.isFinite(value)) throw notANumber(name, text)
  const { above = -1, most = Number.MAX_SAFE_INTEGER, isWhole = false } = limits
  if (isWhole && !text.match(/^\d+$/))
    throw new AppError('BAD_REQUEST', `--${name} takes a whole number, and not ${text}`)
  if (value <= above) throw new AppError('BAD_REQUEST', `--${name} takes a number above ${above}, and not ${text}`)
  if (value > most) throw new AppError('BAD_REQUEST', `--${name} takes ${most} at most, and not ${text}`)
  return value
}

const notANumber = (name: string, text: string): AppError =>
  new AppError('BAD_REQUEST', `--${name} takes a number, and not "${text}"`)

/** The id, of a shape that the server can be asked about. Errors: BAD_REQUEST. */
export function requireTerminalId(text: string): string {
  const id = parseTerminalId(text)
  if (id !== undefined) return id
  throw new AppError(
    'BAD_REQUEST',
    `${JSON.stringify(text)} is no id of a terminal: that is 8 digits of 0-9 and a-f; "cao ls" lists them`,
  )
}

/** Checks how many positionals there are, and returns them under their names. Errors: BAD_REQUEST. */
export function takePositionals<Name extends string>(
  positionals: readonly string[],
  required: readonly Name[],
  optional: readonly Name[] = [],
): Readonly<Partial<Record<Name, string>>> {
  const missing = required[positionals.length]
  if (missing !== undefined) throw new AppError('BAD_REQUEST', `${missing} is missing; --help shows the usage`)
  const most = required.length + optional.length
  const extra = positionals[most]
  if (extra !== undefined) {
    const hint = extra.includes(' ') ? '' : '; put a text of several words in quotes'
    throw new AppError('BAD_REQUEST', `"${extra}" is one word too many${hint}`)
  }
  const names = [...required, ...optional]
  return Object.fromEntries(positionals.map((value, index) => [names[index], value])) as Partial<Record<Name, string>>
}
