/**
 * The checks of a job: commands that must pass before its answer counts. They run one after the other in the worker's directory,
 * once its turn has ended, with CAO's own rights: whoever asks for them must have the right to run commands
 * (`server/routes/jobs.ts`). They get the plain environment, without the keys of any vendor, a deadline, and bounded output.
 */
import type { Check, CheckResult } from '../domain/job.ts'
import { type ProcessResult, runProcess } from '../process/run-process.ts'
import { selectPlainEnv } from './agent-env.ts'
import type { AppContext } from './context.ts'

/** Of one check. Units: ms. */
export const checkTimeoutMs = 600_000
/** Of the output, the end is kept. Units: characters. */
const outputKept = 16_000
const outputBytesMax = 4 * 1024 * 1024

export type RunChecks = {
  readonly checks: readonly Check[]
  readonly directory: string
  readonly signal: AbortSignal
}

export const argvOf = (check: Check): readonly string[] =>
  typeof check === 'string' ? ['/bin/sh', '-c', check] : check
export const nameOf = (check: Check): string => (typeof check === 'string' ? check : JSON.stringify(check))

/** Ends with the first that does not pass. Errors: none; undefined when `signal` aborted. */
export async function runChecks(
  { clock, serverEnv }: Pick<AppContext, 'clock' | 'serverEnv'>,
  { checks, directory, signal }: RunChecks,
): Promise<readonly CheckResult[] | undefined> {
  const results: CheckResult[] = []
  for (const check of checks) {
    const ended = await runProcess({
      clock,
      argv: argvOf(check),
      cwd: directory,
      env: selectPlainEnv(serverEnv),
      timeoutMs: checkTimeoutMs,
      signal,
      outputBytesMax,
    })
    if (ended.kind === 'aborted') return undefined
    const result = { command: nameOf(check), ...describe(ended) }
    results.push(result)
    if (!result.isPassed) break
  }
  return results
}

function describe(ended: Exclude<ProcessResult, { readonly kind: 'aborted' }>): Omit<CheckResult, 'command'> {
  if (ended.kind === 'not-started') return { isPassed: false, how: `not started: ${ended.detail}`, output: '' }
  const output = `${ended.stdout}${ended.stderr}`.slice(-outputKept)
  if (ended.kind === 'timed-out') return { isPassed: false, how: `no end after ${ended.afterMs / 1_000} s`, output }
  return { isPassed: ended.code === 0, how: `exit code ${ended.code}`, output }
}
