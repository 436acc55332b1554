/** Qwen Code as a provider: its title and its records tell and prove, its pane is typed into. */
import { FamilySignals } from '../gemini_family/signals.ts'
import type { ReadTitle } from '../gemini_family/title.ts'
import { findOnPath } from '../program-path.ts'
import type { Key, Provider } from '../provider.ts'
import { planQwenAnswer } from './answer-keys.ts'
import { qwenChats } from './chat-record.ts'
import { planQwenLaunch } from './launch.ts'
import { qwenScreen } from './screen.ts'

export type QwenProviderOptions = {
  /** Looked at after the PATH: a copy that CAO installed for itself. */
  readonly ownProgram: string | undefined
  /** Node, by which that copy is run. */
  readonly node: string
}

const key = (name: string): Key => ({ kind: 'key', name })
/** C-u clears the line before the cursor, the other key joins it to the line above. C-c would end the program when pressed twice. */
const clear = Array.from({ length: 24 }, () => [key('C-u'), key('BSpace')]).flat()

/** Source: fixtures/0.24.4. */
export const readQwenTitle: ReadTitle = (title) => {
  if (title.startsWith('◐')) return 'working'
  if (title.startsWith('✳')) return 'waiting'
  return title.startsWith('Qwen - ') ? 'ready' : undefined
}

export function createQwenProvider(options: QwenProviderOptions): Provider {
  return {
    name: 'qwen_cli',
    title: 'Qwen Code',
    capabilities: new Set(['proof-of-body', 'exact-answer', 'resume']),
    // The record tells of every turn; when one is over, by the title.
    announces: { transcript: ['turn_started', 'turn_ended'] },
    quirks: {
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
        { keys: [key('Escape')], pauseMs: 600 },
        { keys: clear, pauseMs: 300 },
        // The menu of commands opens after the slash.
        { keys: [{ kind: 'text', text: '/quit' }], pauseMs: 1_000 },
        { keys: [key('Enter')], pauseMs: 0 },
      ],
    },
    findProgram: (clientEnv) =>
      findOnPath({
        name: 'qwen',
        path: clientEnv['PATH'],
        ownProgram: options.ownProgram,
        hint: 'install it with "npm install -g @qwen-code/qwen-code@latest" (it needs Node 22 or newer)',
      }),
    planLaunch: (request) => planQwenLaunch(request, options),
    readScreen: qwenScreen.read,
    screen: qwenScreen,
    openSignals: (context) =>
      new FamilySignals(context, {
        title: 'Qwen Code',
        readTitle: readQwenTitle,
        layoutOf: ({ recordsDir }) => qwenChats(recordsDir),
      }),
    planAnswer: planQwenAnswer,
  }
}
