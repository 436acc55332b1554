/** The command line of the demo. Pure. */
import { parseArgs } from 'node:util'
import { AppError } from '../domain/errors.ts'

export const workerProviders = ['scripted', 'opencode_cli', 'claude_code'] as const
export type WorkerProvider = (typeof workerProviders)[number]
export type RealCli = Exclude<WorkerProvider, 'scripted'>

export type DemoOptions = { readonly keep: boolean; readonly provider: WorkerProvider; readonly help: boolean }

export const demoUsage = `npm run demo -- [--keep] [--provider NAME]

A small team at work, told as it happens: a supervisor assigns two developers side by side, hands a question to a
reviewer and waits, gets the developers' answers through its inbox, and answers. Everything happens in a home of its
own under the temp directory, with a server and a tmux of its own, and nothing of it is left at the end.

  --keep           leave the team running, and say how to attach, look and stop
  --provider NAME  what developers and reviewer are: scripted (the default: programs that follow a script),
                   opencode_cli or claude_code (the real OpenCode or Claude Code, installed from npm when it is not
                   there, against a model server on this machine; no account, no key)
`

/** Errors: BAD_REQUEST. */
export function parseDemoOptions(words: readonly string[]): DemoOptions {
  const { values } = readWords(words)
  const { keep = false, help = false, provider = 'scripted' } = values
  const known = workerProviders.find((name) => name === provider)
  if (known === undefined) {
    throw new AppError('PROVIDER_UNKNOWN', `--provider is one of ${workerProviders.join(', ')}, and not "${provider}"`)
  }
  return { keep, help, provider: known }
}

function readWords(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      options: { keep: { type: 'boolean' }, provider: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    })
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new AppError('BAD_REQUEST', `${error.message}; --help shows the usage`)
  }
}
