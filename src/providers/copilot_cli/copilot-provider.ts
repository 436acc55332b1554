/** Copilot CLI as a provider: its record of the conversation tells and proves, its pane is typed into. */
import { findOnPath } from '../program-path.ts'
import type { Key, Provider } from '../provider.ts'
import { planCopilotAnswer } from './answer-keys.ts'
import { planCopilotLaunch } from './launch.ts'
import { copilotScreen } from './screen.ts'
import { CopilotSignals } from './signals.ts'

export type CopilotProviderOptions = {
  /** Looked at after the PATH: a copy that CAO installed for itself. */
  readonly ownProgram: string | undefined
}

const key = (name: string): Key => ({ kind: 'key', name })
/** C-u clears one line, and BSpace goes to the end of the line before. Neither does anything to an empty composer. */
const clear = Array.from({ length: 12 }, () => [key('C-u'), key('BSpace')]).flat()

export function createCopilotProvider(options: CopilotProviderOptions): Provider {
  return {
    name: 'copilot_cli',
    title: 'Copilot CLI',
    capabilities: new Set(['proof-of-body', 'exact-answer', 'resume']),
    // No hook tells of an interrupted turn. The record does, of every turn that it told of before.
    announces: { hook: ['turn_started'], transcript: ['turn_started', 'turn_ended'] },
    quirks: {
      settleMs: 100,
      dialogSettleMs: 500,
      toolsLimitMs: 20_000,
      startupLimitMs: 60_000,
      hungAfterMs: 600_000,
      submit: [key('Enter')],
      // At rest a second one would end the program. Escape has to come twice, and two at once are taken for another key.
      interrupt: [key('C-c')],
      clear,
      exit: [
        { keys: clear, pauseMs: 300 },
        // The menu of commands opens after the slash.
        { keys: [{ kind: 'text', text: '/exit' }], pauseMs: 1_200 },
        { keys: [key('Enter')], pauseMs: 0 },
      ],
    },
    findProgram: (clientEnv) =>
      findOnPath({
        name: 'copilot',
        path: clientEnv['PATH'],
        ownProgram: options.ownProgram,
        hint: 'install it with "npm install -g @github/copilot"',
      }),
    planLaunch: planCopilotLaunch,
    readScreen: copilotScreen.read,
    screen: copilotScreen,
    openSignals: (context) => new CopilotSignals(context),
    planAnswer: planCopilotAnswer,
  }
}
