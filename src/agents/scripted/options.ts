/** The command line of the scripted agent, read with Node's own parser. */
import { parseArgs } from 'node:util'

export type ScreenKind = 'inline' | 'alternate'

export type Options = {
  readonly screen: ScreenKind
  readonly model: string
  readonly sessionId: string | undefined
  readonly resume: string | undefined
  readonly transcript: string | undefined
  readonly dataDir: string | undefined
  readonly hookArgv: readonly string[]
  readonly mcpConfig: string | undefined
  readonly systemPromptFile: string | undefined
  readonly playbook: string | undefined
  readonly misbehaviour: Misbehaviour
}

/** Ways in which a real agent can be bad, for tests. */
export type Misbehaviour = {
  /** This many Enters do nothing. */
  readonly swallowEnters: number
  /** The composer shows a draft this much later. Units: ms. */
  readonly slowPaintMs: number
  /** No hook is called. */
  readonly ignoreHooks: boolean
  readonly bracketedPaste: boolean
  /** Time before the composer is there. Units: ms. */
  readonly startupMs: number
  /** Asks first whether the folder is trusted. */
  readonly trustDialog: boolean
  /** Between two pictures of the spinner. Units: ms. */
  readonly spinnerMs: number
}

export type OptionsOutcome =
  | { readonly kind: 'options'; readonly options: Options }
  | { readonly kind: 'help' }
  | { readonly kind: 'refused'; readonly why: string }

export const usage = `scripted-agent: a coding agent without a model; lines of the message say what it does.

  --screen inline|alternate   how it paints (alternate)
  --model NAME                shown, nothing else
  --session-id ID             id of the new conversation
  --resume ID                 goes on with a conversation
  --transcript FILE           its record, one JSON text a line (DATA-DIR/ID.jsonl)
  --data-dir DIR              where records are kept
  --hook-argv JSON            program and arguments to call for each event, JSON on stdin
  --mcp-config FILE           MCP servers to start
  --system-prompt-file FILE   kept with the conversation
  --playbook FILE             rules for messages that bring none

For tests: --swallow-enters N, --slow-paint MS, --ignore-hooks, --no-bracketed-paste, --startup-ms N, --trust-dialog,
--spinner-ms N; also as words of SCRIPTED_AGENT_FLAGS in the environment
`

const string = { type: 'string' } as const
const boolean = { type: 'boolean', default: false } as const

/** Flags that whoever launches it through another program can only give by its environment. */
export function readEnvFlags(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return (env['SCRIPTED_AGENT_FLAGS'] ?? '').split(/\s+/).filter((word) => word !== '')
}

/** Errors: none; what is wrong comes back as `refused`. */
export function parseOptions(argv: readonly string[]): OptionsOutcome {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        screen: { type: 'string', default: 'alternate' },
        model: { type: 'string', default: 'scripted' },
        'session-id': string,
        resume: string,
        transcript: string,
        'data-dir': string,
        'hook-argv': { type: 'string', default: '[]' },
        'mcp-config': string,
        'system-prompt-file': string,
        playbook: string,
        'swallow-enters': { type: 'string', default: '0' },
        'slow-paint': { type: 'string', default: '0' },
        'startup-ms': { type: 'string', default: '0' },
        'spinner-ms': { type: 'string', default: '250' },
        'ignore-hooks': boolean,
        'no-bracketed-paste': boolean,
        'trust-dialog': boolean,
        help: boolean,
      },
    })
    if (values.help) return { kind: 'help' }
    const misbehaviour: Misbehaviour = {
      swallowEnters: parseCount('--swallow-enters', values['swallow-enters']),
      slowPaintMs: parseCount('--slow-paint', values['slow-paint']),
      startupMs: parseCount('--startup-ms', values['startup-ms']),
      ignoreHooks: values['ignore-hooks'],
      bracketedPaste: !values['no-bracketed-paste'],
      trustDialog: values['trust-dialog'],
      spinnerMs: parseCount('--spinner-ms', values['spinner-ms']),
    }
    const options: Options = {
      screen: parseScreen(values.screen),
      model: values.model,
      sessionId: values['session-id'],
      resume: values.resume,
      transcript: values.transcript,
      dataDir: values['data-dir'],
      hookArgv: parseWords('--hook-argv', values['hook-argv']),
      mcpConfig: values['mcp-config'],
      systemPromptFile: values['system-prompt-file'],
      playbook: values.playbook,
      misbehaviour,
    }
    return { kind: 'options', options }
  } catch (error) {
    // parseArgs and the parsers below throw plain errors whose message is for the person.
    if (!(error instanceof Error)) throw error
    return { kind: 'refused', why: error.message }
  }
}

function parseScreen(text: string): ScreenKind {
  if (text === 'inline' || text === 'alternate') return text
  throw new Error(`--screen is inline or alternate, not "${text}"`)
}

function parseCount(flag: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new Error(`${flag} takes a whole number, not "${text}"`)
}

function parseWords(flag: string, text: string): readonly string[] {
  const words: unknown = JSON.parse(text)
  if (Array.isArray(words) && words.every((word) => typeof word === 'string')) return words
  throw new Error(`${flag} takes a JSON array of strings`)
}
