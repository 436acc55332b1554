/** Gemini CLI as a provider: its title and its records tell and prove, its pane is typed into. */
import { FamilySignals } from '../gemini_family/signals.ts'
import type { ReadTitle } from '../gemini_family/title.ts'
import { findOnPath } from '../program-path.ts'
import type { Key, Provider } from '../provider.ts'
import { planGeminiAnswer } from './answer-keys.ts'
import { geminiChats } from './chat-record.ts'
import { planGeminiLaunch } from './launch.ts'
import { geminiScreen } from './screen.ts'

export type GeminiProviderOptions = {
  /** Looked at after the PATH: a copy that CAO installed for itself. */
  readonly ownProgram: string | undefined
  /** Node, by which that copy is run. */
  readonly node: string
}

const key = (name: string): Key => ({ kind: 'key', name })
/** C-u clears the line before the cursor, the other key joins it to the line above. C-c would end the program when pressed twice. */
const clear = Array.from({ length: 24 }, () => [key('C-u'), key('BSpace')]).flat()

/** Source: fixtures/0.61.0; `⏲` works and has printed nothing for a while. */
export const readGeminiTitle: ReadTitle = (title) => {
  if (title.startsWith('◇')) return 'ready'
  if (/^[✦⏲]/.test(title)) return 'working'
  return title.startsWith('✋') ? 'waiting' : undefined
}

export function createGeminiProvider(options: GeminiProviderOptions): Provider {
  return {
    name: 'gemini_cli',
    title: 'Gemini CLI',
    capabilities: new Set(['proof-of-body', 'exact-answer', 'resume']),
    // The record tells of every turn; when one is over, by the title.
    announces: { transcript: ['turn_started', 'turn_ended'] },
    quirks: {
      // An Enter sooner than 50 ms after a paste is taken for a part of it; on a busy machine, later ones, too.
      settleMs: 150,
      dialogSettleMs: 300,
      toolsLimitMs: 20_000,
      startupLimitMs: 60_000,
      hungAfterMs: 600_000,
      submit: [key('Enter')],
      interrupt: [key('Escape')],
      clear,
      exit: [
        // Once only: a second one at rest opens a list of former prompts.
        // While it connects to its servers, commands are queued, and go to the model as a prompt.
        { keys: [key('Escape')], pauseMs: 1_500 },
        { keys: clear, pauseMs: 300 },
        // The menu of commands opens after the slash.
        { keys: [{ kind: 'text', text: '/quit' }], pauseMs: 800 },
        { keys: [key('Enter')], pauseMs: 0 },
      ],
    },
    findProgram: (clientEnv) =>
      findOnPath({
        name: 'gemini',
        path: clientEnv['PATH'],
        ownProgram: options.ownProgram,
        hint: 'install it with "npm install -g @google/gemini-cli"',
      }),
    planLaunch: (request) => planGeminiLaunch(request, options),
    readScreen: geminiScreen.read,
    screen: geminiScreen,
    openSignals: (context) =>
      new FamilySignals(context, {
        title: 'Gemini CLI',
        readTitle: readGeminiTitle,
        layoutOf: ({ recordsDir }) => geminiChats(recordsDir),
      }),
    planAnswer: planGeminiAnswer,
  }
}
