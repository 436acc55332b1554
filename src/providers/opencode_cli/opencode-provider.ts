/** opencode as a provider: its HTTP API beside the live interface tells and proves, its pane is typed into. */
import { access, constants } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
import type { Key, ProgramOutcome, Provider } from '../provider.ts'
import { planOpencodeAnswer } from './answer-keys.ts'
import { planOpencodeLaunch } from './launch.ts'
import { readOpencodeScreen } from './screen.ts'
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
    findProgram: (clientEnv) => findProgram(clientEnv, options),
    planLaunch: (request) => Promise.resolve(planOpencodeLaunch(request)),
    readScreen: readOpencodeScreen,
    openSignals: (context) => new OpencodeSignals(context),
    planAnswer: planOpencodeAnswer,
  }
}

async function findProgram(
  clientEnv: Readonly<Record<string, string>>,
  { ownProgram }: OpencodeProviderOptions,
): Promise<ProgramOutcome> {
  const dirs = (clientEnv['PATH'] ?? '').split(delimiter).filter((dir) => isAbsolute(dir))
  const places = [...dirs.map((dir) => join(dir, 'opencode')), ...(ownProgram === undefined ? [] : [ownProgram])]
  for (const path of places) {
    if (await isExecutable(path)) return { kind: 'found', path }
  }
  return { kind: 'missing', hint: 'install it with "npm install -g opencode-ai"' }
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
