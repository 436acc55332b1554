/**
 * The rule language that scripted agents and scripted models obey: one rule per line of a message, `VERB rest`.
 * It has no state and no clock: this file tells rules from prose, `fill-in.ts` puts earlier results into texts,
 * `message.ts` finds the rules' place in a delivered message. Who obeys them decides what a rule does.
 *
 * A line whose verb stands but whose rest does not fit (`wait for me`) is prose, so that people can write sentences.
 */

/** What the rest of the line must be. Numbers may have a fraction where their unit is a second. */
type RestShape = 'text' | 'optional-text' | 'whole-number' | 'optional-number' | 'none' | 'call'

const verbShapes = {
  /** Ends the turn with this text; `\n` in it means a newline. */
  reply: 'text',
  /** Streams this text and goes on. */
  say: 'text',
  think: 'text',
  /** Streams words for so many seconds. */
  slow: 'optional-number',
  /** Does nothing for so many milliseconds. */
  wait: 'whole-number',
  /** Runs a shell command, after a permission prompt. */
  tool: 'text',
  /** `QUESTION | OPTION | OPTION` */
  ask: 'text',
  /** `TOOL JSON`: calls a tool of an MCP server. */
  call: 'call',
  /** Ends the turn; the next N incoming messages are only remembered; with the last of them the rules below go on. */
  collect: 'whole-number',
  error: 'whole-number',
  /** A rate limit that ends in so many seconds, and says so. */
  limit: 'whole-number',
  hang: 'none',
  long: 'optional-number',
  unicode: 'none',
  markdown: 'none',
  crash: 'optional-number',
  freeze: 'whole-number',
  flood: 'whole-number',
  /** Prints what looks like a prompt or a composer; the word names one where there are several. */
  imitate: 'optional-text',
  'swallow-enter': 'optional-number',
  'slow-paint': 'whole-number',
} as const satisfies Record<string, RestShape>

export type Verb = keyof typeof verbShapes

export const verbs = Object.keys(verbShapes) as readonly Verb[]

/** One rule. `rest` is trimmed; its shape is checked, but for the JSON of a `call`, which `parseCall` reads. */
export type Step = { readonly verb: Verb; readonly rest: string }

const linePattern = /^\s*([a-z]+(?:-[a-z]+)?)(?:[ \t]+(.*?))?\s*$/

const restPatterns: Readonly<Record<RestShape, RegExp>> = {
  text: /\S/,
  'optional-text': /^/,
  'whole-number': /^\d{1,9}$/,
  'optional-number': /^(?:\d{1,9}(?:\.\d{1,3})?)?$/,
  none: /^$/,
  call: /^[\w./-]+\s*(?:\{.*)?$/,
}

/** The rules of a message, in order; lines that are none are left out. Pure. Errors: none. */
export function parseRules(text: string): readonly Step[] {
  return text.split(/\r\n|\r|\n/).flatMap((line) => {
    const [, word = '', rest = ''] = linePattern.exec(line) ?? []
    return isVerb(word) && restPatterns[verbShapes[word]].test(rest) ? [{ verb: word, rest }] : []
  })
}

function isVerb(word: string): word is Verb {
  return Object.hasOwn(verbShapes, word)
}

/** The number of a rule, or `otherwise` where it names none. */
export function parseNumber(rest: string, otherwise: number): number {
  return rest === '' ? otherwise : Number(rest)
}

export type Question = { readonly text: string; readonly options: readonly string[] }

/** Reads the rest of `ask`: the question, then its options, between bars. Empty parts are left out. */
export function parseQuestion(rest: string): Question {
  const [text = '', ...options] = rest.split('|').map((part) => part.trim())
  return { text, options: options.filter((option) => option !== '') }
}

export type JsonObject = Readonly<Record<string, unknown>>
export type CallOutcome =
  | { readonly kind: 'call'; readonly tool: string; readonly args: JsonObject }
  | { readonly kind: 'unreadable'; readonly tool: string; readonly why: string }

/** Reads the rest of `call`. No JSON means no arguments. */
export function parseCall(rest: string): CallOutcome {
  const [, tool = '', json = ''] = /^([\w./-]+)\s*(.*)$/s.exec(rest) ?? []
  if (json === '') return { kind: 'call', tool, args: {} }
  try {
    const value: unknown = JSON.parse(json)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return { kind: 'call', tool, args: value as JsonObject }
    }
    return { kind: 'unreadable', tool, why: 'the arguments are no JSON object' }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { kind: 'unreadable', tool, why: error.message }
  }
}
