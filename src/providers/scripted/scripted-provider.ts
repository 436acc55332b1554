/** The scripted agent as a provider like any other: the demo, the tests and the benches run on it. */
import { access } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import type { ProgramOutcome, Provider } from '../provider.ts'
import { planScriptedLaunch } from './launch.ts'
import { scriptedOperations } from './question.ts'
import { planScriptedAnswer, scriptedScreen } from './screen.ts'
import { ScriptedSignals } from './signals.ts'

export type ScriptedProviderOptions = {
  /** argv of the agent program, the first word an absolute path: our own Node and its entry file. */
  readonly agentArgv: readonly string[]
}

export function createScriptedProvider(options: ScriptedProviderOptions): Provider {
  const [program, ...rest] = options.agentArgv
  return {
    name: 'scripted',
    title: 'Scripted agent',
    capabilities: new Set(['proof-of-body', 'exact-answer', 'resume']),
    announces: { hook: ['turn_started', 'turn_ended', 'waiting', 'question_closed'] },
    quirks: {
      settleMs: 0,
      startupLimitMs: 15_000,
      hungAfterMs: 15_000,
      submit: [{ kind: 'key', name: 'Enter' }],
      interrupt: [{ kind: 'key', name: 'Escape' }],
      clear: [{ kind: 'key', name: 'C-u' }],
      exit: [
        { keys: [{ kind: 'key', name: 'Escape' }], pauseMs: 100 },
        { keys: [{ kind: 'key', name: 'C-u' }], pauseMs: 50 },
        {
          keys: [
            { kind: 'text', text: '/exit' },
            { kind: 'key', name: 'Enter' },
          ],
          pauseMs: 0,
        },
      ],
    },
    findProgram: () => findAgent(options.agentArgv),
    planLaunch: (request) => Promise.resolve(planScriptedLaunch(request, [program ?? '', ...rest])),
    readScreen: scriptedScreen.read,
    screen: scriptedScreen,
    openSignals: (context) => new ScriptedSignals(context),
    operations: scriptedOperations,
    planAnswer: planScriptedAnswer,
  }
}

/** The program is ours: what can be missing is its file, where nothing has been built. */
async function findAgent(argv: readonly string[]): Promise<ProgramOutcome> {
  const hint = 'run "npm run setup" in the checkout of CAO'
  const [program] = argv
  if (program === undefined) return { kind: 'missing', hint }
  try {
    for (const word of argv.filter(isAbsolute)) await access(word)
    return { kind: 'found', path: program }
  } catch (error) {
    if (error instanceof Error && 'code' in error) return { kind: 'missing', hint }
    throw error
  }
}
