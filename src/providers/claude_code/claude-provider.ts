/** Claude Code as a provider: hooks, its status file and its transcript tell and prove, its pane is typed into. */
import { findOnPath } from '../program-path.ts'
import type { Key, Provider } from '../provider.ts'
import { claudeOperations, planClaudeAnswer } from './answer-keys.ts'
import { planClaudeLaunch } from './launch.ts'
import { claudeScreen } from './screen.ts'
import { ClaudeSignals } from './signals.ts'

export type ClaudeProviderOptions = {
  /** Looked at after the PATH: a copy that CAO installed for itself. */
  readonly ownProgram: string | undefined
}

const key = (name: string): Key => ({ kind: 'key', name })
/** It clears one row at a time, and does nothing to an empty composer. C-c clears all, but ends the program when pressed twice. */
const clear = Array.from({ length: 24 }, () => key('C-u'))

export function createClaudeProvider(options: ClaudeProviderOptions): Provider {
  return {
    name: 'claude_code',
    title: 'Claude Code',
    capabilities: new Set(['proof-of-body', 'exact-answer', 'resume']),
    // A hook tells of no interrupted turn. The status file tells of every end, where the program writes one.
    announces: { hook: ['turn_started'], transcript: ['turn_started', 'turn_ended'] },
    quirks: {
      settleMs: 100,
      dialogSettleMs: 500,
      toolsLimitMs: 20_000,
      startupLimitMs: 60_000,
      hungAfterMs: 600_000,
      // Measured: a prompt that is queued waits for the tool that runs; a file that is only mentioned is read and sent along.
      takesPromptsAtWork: true,
      hasMentions: true,
      submit: [key('Enter')],
      interrupt: [key('Escape')],
      clear,
      exit: [
        { keys: [key('Escape')], pauseMs: 300 },
        { keys: clear, pauseMs: 200 },
        // The menu of commands opens after the slash.
        { keys: [{ kind: 'text', text: '/exit' }], pauseMs: 500 },
        { keys: [key('Enter')], pauseMs: 0 },
      ],
    },
    findProgram: (clientEnv) =>
      findOnPath({
        name: 'claude',
        path: clientEnv['PATH'],
        ownProgram: options.ownProgram,
        hint: 'install it with "npm install -g @anthropic-ai/claude-code"',
      }),
    planLaunch: planClaudeLaunch,
    readScreen: claudeScreen.read,
    screen: claudeScreen,
    openSignals: (context) => new ClaudeSignals(context),
    operations: claudeOperations,
    planAnswer: planClaudeAnswer,
  }
}
