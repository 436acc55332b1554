/** From the words after the command's name to its options and positionals. Pure. */
import { AppError } from '../domain/errors.ts'
import { parseArgs } from './builtins.ts'
import { type Command, commonOptions, type OptionTable, type OptionValues } from './command.ts'

export type ParsedCall = { readonly options: OptionValues; readonly positionals: readonly string[] }

/** Errors: BAD_REQUEST with a sentence that names the option. */
export function parseCall(name: string, command: Command, words: readonly string[]): ParsedCall {
  const options: OptionTable = { ...commonOptions, ...command.options }
  const args = command.takesText === true ? protectText(words, options) : [...words]
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true, strict: true })
    return { options: values as OptionValues, positionals }
  } catch (error) {
    if (!isParseError(error)) throw error
    const sentence = error.message.split('. ')[0] ?? error.message
    const said = sentence.charAt(0).toLowerCase() + sentence.slice(1)
    throw new AppError('BAD_REQUEST', `${said}; "cao ${name} --help" lists the options`)
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

/** A positive number. Errors: BAD_REQUEST. */
export function numberOption(options: OptionValues, name: string): number | undefined {
  const text = textOption(options, name)
  if (text === undefined) return undefined
  const value = Number(text)
  if (!/^\d+(\.\d+)?$/.test(text) || !Number.isFinite(value)) {
    throw new AppError('BAD_REQUEST', `--${name} takes a number, and not "${text}"`)
  }
  return value
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
