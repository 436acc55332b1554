/** Puts what happened earlier into the texts of a rule. */
import type { JsonObject } from './rules.ts'

/** What rules may speak of: results of tools and bodies of collected messages, oldest first. */
export type Remembered = { readonly results: readonly string[]; readonly messages: readonly string[] }

const placePattern = /\{(result|results|output|messages)\}/g

/**
 * Replaces `{result}` (the last), `{output}` (the field of that name in it, where it is JSON that has one), `{results}` and
 * `{messages}` (one per line). What is put in is not searched again.
 */
export function fillIn(text: string, remembered: Remembered): string {
  return text.replaceAll(placePattern, (_, name: string) => {
    const last = remembered.results.at(-1) ?? ''
    if (name === 'result') return last
    if (name === 'output') return outputOf(last)
    return (name === 'results' ? remembered.results : remembered.messages).join('\n')
  })
}

/** Tools that hand work to another agent answer with JSON; what that agent said stands in its `output`. */
function outputOf(result: string): string {
  try {
    const value: unknown = JSON.parse(result)
    const isObject = typeof value === 'object' && value !== null && 'output' in value
    return isObject && typeof value.output === 'string' ? value.output : result
  } catch (error) {
    if (error instanceof SyntaxError) return result
    throw error
  }
}

/** A text as it is to be shown: places filled, and `\n` (two characters) of the rule itself made a newline. */
export function renderText(rest: string, remembered: Remembered): string {
  return fillIn(rest.replaceAll('\\n', '\n'), remembered)
}

/** Arguments of a call with the places in their string values filled, at any depth; keys stay. */
export function fillInArgs(args: JsonObject, remembered: Remembered): JsonObject {
  return fillInValue(args, remembered) as JsonObject
}

function fillInValue(value: unknown, remembered: Remembered): unknown {
  if (typeof value === 'string') return fillIn(value, remembered)
  if (Array.isArray(value)) return value.map((item) => fillInValue(item, remembered))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillInValue(item, remembered)]))
}
