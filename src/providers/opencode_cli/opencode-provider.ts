/** opencode as a provider: its HTTP API beside the live interface tells and proves, its pane is typed into. */
import { findOnPath } from '../program-path.ts'
import type { Key, Provider } from '../provider.ts'
import { opencodeOperations, planOpencodeAnswer } from './answer-keys.ts'
import { planOpencodeLaunch } from './launch.ts'
import { opencodeScreen } from './screen.ts'
import { OpencodeSignals } from './signals.ts'

/**
 * Escape as a terminal with the kitty keyboard protocol sends it (CSI 27 u): two plain ones in a row are read as one
 * Alt+Escape, and opencode wants it twice.
 */
const escape: Key = { kind: 'text', text: '\u001b[27u' }

export type OpencodeProviderOptions = {
  /** Looked at after the PATH: a copy that CAO installed for itself. */
  readonly ownProgram: string | undefined
}

export function createOpencodeProvider(options: OpencodeProviderOptions): Provider {
  return {
    name: 'opencode_cli',
    title: 'opencode',
    capabilities: new Set(['proof-of-body', 'exact-answer', 'resume', 'needs-port']),
    announces: { api: ['turn_started', 'turn_ended', 'waiting', 'question_closed'] },
    quirks: {
      settleMs: 30,
      startupLimitMs: 60_000,
      hungAfterMs: 600_000,
      submit: [{ kind: 'key', name: 'Enter' }],
      interrupt: [escape, escape],
      // C-u clears one line only, and C-c would end the program when there is nothing to clear.
      clear: [
        { kind: 'key', name: 'C-e' },
        { kind: 'key', name: 'C-u' },
      ],
      exit: [
        {
          keys: [escape, escape],
          pauseMs: 200,
        },
        // The menu of commands opens after the slash.
        { keys: [{ kind: 'text', text: '/exit' }], pauseMs: 500 },
        { keys: [{ kind: 'key', name: 'Enter' }], pauseMs: 0 },
      ],
    },
    findProgram: (clientEnv) =>
      findOnPath({
        name: 'opencode',
        path: clientEnv['PATH'],
        ownProgram: options.ownProgram,
        hint: 'install it with "npm install -g opencode-ai"',
      }),
    planLaunch: (request) => Promise.resolve(planOpencodeLaunch(request)),
    readScreen: opencodeScreen.read,
    screen: opencodeScreen,
    openSignals: (context) => new OpencodeSignals(context),
    operations: opencodeOperations,
    planAnswer: planOpencodeAnswer,
  }
}
