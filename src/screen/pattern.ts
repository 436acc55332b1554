/**
 * Patterns of a person's rule file as text, and which are refused before anything is tried: JavaScript has no time limit
 * on a pattern, and these run on every picture of every agent. Refused is what can take exponential time (a repetition
 * inside of a repetition), what looks around or back, and what is long. Pure.
 */

export const patternCharsMax = 500
/** Each of them multiplies the time that a long line takes. */
export const repetitionsMax = 8

export type PatternOutcome =
  | { readonly kind: 'pattern'; readonly pattern: RegExp }
  | { readonly kind: 'refused'; readonly why: string }

const refused = (why: string): PatternOutcome => ({ kind: 'refused', why })

/** `text` is a pattern, or `/pattern/flags` with flags of i, m, s and u. */
export function parsePattern(text: string): PatternOutcome {
  if (text.length > patternCharsMax) return refused(`longer than ${patternCharsMax} characters`)
  const [, source = text, flags = ''] = /^\/(.+)\/([a-z]*)$/s.exec(text) ?? []
  if (!/^[imsu]*$/.test(flags)) return refused(`flags are of i, m, s and u, not "${flags}"`)
  const danger = findDanger(source)
  if (danger !== undefined) return refused(danger)
  try {
    return { kind: 'pattern', pattern: new RegExp(source, flags) }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return refused(error.message)
  }
}

/** The text that `parsePattern` reads back. */
export function formatPattern({ source, flags }: RegExp): string {
  return flags === '' && !source.startsWith('/') ? source : `/${source}/${flags}`
}

/** Why a pattern may take too long; undefined: no such thing was found. */
function findDanger(source: string): string | undefined {
  const tokens = source.matchAll(
    /\\(?:k<|u\{[^}]*\}|[\s\S])|\[(?:\\[\s\S]|[^\]\\])*\]|\((\?[:=!]|\?<[=!]?)?|\)|[*+]|\{\d+(,\d*)?\}/g,
  )
  /** For each open group, whether it holds a repetition. */
  const groups: boolean[] = []
  let isClosedRepeating = false
  let repetitions = 0
  for (const [token, open, range] of tokens) {
    if (/^\\(?:[1-9]|k<)/.test(token)) return 'it refers back to a group'
    const wasRepeating = isClosedRepeating
    isClosedRepeating = false
    if (token.startsWith('(')) {
      if (open === '?<=' || open === '?<!') return 'it looks behind'
      groups.push(false)
    } else if (token === ')') {
      isClosedRepeating = groups.pop() ?? false
      if (isClosedRepeating && groups.length > 0) groups[groups.length - 1] = true
    } else if (token === '*' || token === '+' || range !== undefined || token.startsWith('{')) {
      if (wasRepeating) return 'it repeats a group that repeats'
      if (token.startsWith('{') && range === undefined) continue
      repetitions++
      if (groups.length > 0) groups[groups.length - 1] = true
    }
  }
  return repetitions > repetitionsMax ? `it repeats ${repetitions} times; ${repetitionsMax} at most` : undefined
}
