/** The demo as a program: gives it the process it runs in. `npm run demo` and `cao demo` start it. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../async/clock-system.ts'
import { demoUsage, parseDemoOptions } from '../demo/demo-options.ts'
import { runDemo } from '../demo/run-demo.ts'
import { AppError } from '../domain/errors.ts'
import { installOpencode, opencodeProgramIn, opencodeVersion } from '../providers/opencode_cli/install.ts'
import { findRoot } from './root.ts'

/** Into a folder of the checkout's own cache, so that the second run finds it. */
async function install(tell: (line: string) => void, signal: AbortSignal): Promise<string> {
  const dir = join(findRoot(), '.cache', `opencode-${opencodeVersion}`)
  if (!existsSync(opencodeProgramIn(dir))) tell(`installing OpenCode ${opencodeVersion} from npm into ${dir} …`)
  const outcome = await installOpencode({ dir, npm: ['npm'] }, { signal })
  if (outcome.kind === 'installed') return outcome.program
  throw new AppError('PROGRAM_MISSING', `OpenCode could not be installed from npm: ${outcome.why}`)
}

async function main(): Promise<number> {
  const options = parseDemoOptions(process.argv.slice(2))
  if (options.help) {
    process.stdout.write(demoUsage)
    return 0
  }
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => interrupted.abort(new Error(`ended by ${signal}`)))
  }
  return runDemo({
    options,
    clock: systemClock,
    signal: interrupted.signal,
    env: process.env,
    root: findRoot(),
    say: (line) => void process.stdout.write(`${line}\n`),
    installOpencode: install,
  })
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof AppError)) throw error
  process.stderr.write(`Error: ${error.message}\n`)
  process.exitCode = error.row.exitCode
}
