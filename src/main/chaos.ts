/** The chaos run as a program: gives it the process it runs in. `npm run chaos` starts it. */
import { join } from 'node:path'
import { systemClock } from '../async/clock-system.ts'
import { chaosUsage, parseChaosOptions } from '../chaos/chaos-options.ts'
import { runChaos } from '../chaos/run-chaos.ts'
import { AppError } from '../domain/errors.ts'
import { findRoot } from './root.ts'

async function main(): Promise<number> {
  const options = parseChaosOptions(process.argv.slice(2))
  if (options.help) {
    process.stdout.write(chaosUsage)
    return 0
  }
  if (process.platform !== 'linux')
    throw new AppError('SETUP_MISSING', 'the chaos run looks into /proc: it needs Linux')
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => interrupted.abort(new Error(`ended by ${signal}`)))
  }
  return runChaos({
    options,
    clock: systemClock,
    signal: interrupted.signal,
    env: process.env,
    server: [join(findRoot(), 'bin', 'cao-server')],
    say: (line) => void process.stdout.write(`${line}\n`),
  })
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof AppError)) throw error
  process.stderr.write(`Error: ${error.message}\n`)
  process.exitCode = error.row.exitCode
}
