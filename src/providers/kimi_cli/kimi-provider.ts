/** Kimi Code as a provider: its hooks tell, its record of the conversation proves, its pane is typed into. */
import { findOnPath } from '../program-path.ts'
import type { Key, Provider } from '../provider.ts'
import { allowOwnTool, planKimiAnswer } from './answer-keys.ts'
import { planKimiLaunch } from './launch.ts'
import { kimiScreen } from './screen.ts'
import { KimiSignals } from './signals.ts'

export type KimiProviderOptions = {
  /** Looked at after the PATH: a copy that CAO installed for itself. */
  readonly ownProgram: string | undefined
}

const key = (name: string): Key => ({ kind: 'key', name })
/** It clears one row at a time, and does nothing to an empty composer. C-c clears all, but ends the program when pressed twice. */
const clear = Array.from({ length: 24 }, () => key('C-u'))

export function createKimiProvider(options: KimiProviderOptions): Provider {
  return {
    name: 'kimi_cli',
    title: 'Kimi Code',
    capabilities: new Set(['proof-of-body', 'exact-answer', 'resume']),
    announces: { hook: ['turn_started', 'turn_ended'] },
    quirks: {
      settleMs: 100,
      dialogSettleMs: 300,
      toolsLimitMs: 20_000,
      startupLimitMs: 60_000,
      hungAfterMs: 600_000,
      submit: [key('Enter')],
      interrupt: [key('Escape')],
      clear,
      exit: [
        { keys: [key('Escape')], pauseMs: 300 },
        { keys: clear, pauseMs: 200 },
        // The menu of commands opens after the slash.
        { keys: [{ kind: 'text', text: '/exit' }], pauseMs: 600 },
        { keys: [key('Enter')], pauseMs: 0 },
      ],
    },
    findProgram: (clientEnv) =>
      findOnPath({
        name: 'kimi',
        path: clientEnv['PATH'],
        ownProgram: options.ownProgram,
        hint: 'install it with "npm install -g @moonshot-ai/kimi-code"',
      }),
    planLaunch: planKimiLaunch,
    readScreen: kimiScreen.read,
    screen: kimiScreen,
    openSignals: (context) => new KimiSignals(context),
    planAnswer: planKimiAnswer,
    ownToolAnswer: allowOwnTool,
  }
}
