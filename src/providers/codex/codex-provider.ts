/** Codex as a provider: its record of the conversation tells and proves, its pane is typed into. */
import { findOnPath } from '../program-path.ts'
import type { Key, Provider } from '../provider.ts'
import { codexOperations, planCodexAnswer } from './answer-keys.ts'
import { planCodexLaunch } from './launch.ts'
import { codexScreen } from './screen.ts'
import { CodexSignals } from './signals.ts'

export type CodexProviderOptions = {
  /** Looked at after the PATH: a copy that CAO installed for itself. */
  readonly ownProgram: string | undefined
}

const key = (name: string): Key => ({ kind: 'key', name })
/** It clears one row at a time, and does nothing to an empty composer. C-c would end the program there. */
const clear = Array.from({ length: 24 }, () => key('C-u'))

export function createCodexProvider(options: CodexProviderOptions): Provider {
  return {
    name: 'codex',
    title: 'Codex',
    capabilities: new Set(['proof-of-body', 'exact-answer', 'resume']),
    // The record tells of every turn, also of one that was interrupted. Marks speak where there is none, so they promise nothing.
    announces: { transcript: ['turn_started', 'turn_ended'] },
    quirks: {
      settleMs: 50,
      dialogSettleMs: 500,
      toolsLimitMs: 20_000,
      startupLimitMs: 60_000,
      hungAfterMs: 600_000,
      // Measured: at the end of a text a mention opens a menu, and Enter chooses from it.
      hasMentions: true,
      submit: [key('Enter')],
      interrupt: [key('Escape')],
      clear,
      exit: [
        // Once only: a second one at rest opens a list of former prompts.
        { keys: [key('Escape')], pauseMs: 300 },
        { keys: clear, pauseMs: 200 },
        // The menu of commands opens after the slash.
        { keys: [{ kind: 'text', text: '/quit' }], pauseMs: 500 },
        { keys: [key('Enter')], pauseMs: 0 },
      ],
    },
    findProgram: (clientEnv) =>
      findOnPath({
        name: 'codex',
        path: clientEnv['PATH'],
        ownProgram: options.ownProgram,
        hint: 'install it with "npm install -g @openai/codex"',
      }),
    planLaunch: planCodexLaunch,
    readScreen: codexScreen.read,
    screen: codexScreen,
    openSignals: (context) => new CodexSignals(context),
    operations: codexOperations,
    planAnswer: planCodexAnswer,
  }
}
