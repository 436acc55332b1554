/**
 * The set-up of a worktree: one command that a project names in `.cao/worktree.json`, such as the installation of what it
 * depends on. A file of a repository that runs commands outside of every agent's limits is a question of trust: it is run
 * only where a person allowed exactly this file, and a changed one asks again. An agent can write the file, not allow it.
 */
import { createHash } from 'node:crypto'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { AppError } from '../domain/errors.ts'
import type { TerminalId } from '../domain/ids.ts'
import { runProcess } from '../process/run-process.ts'
import { selectClientEnv } from './agent-env.ts'
import type { WorktreeSetup } from './app.ts'
import type { AppContext } from './context.ts'

export const setupFileName = '.cao/worktree.json'
const fileBytesMax = 64 * 1024
/** Shorter than a client waits for a launch. Units: s. */
export const setupTimeoutMaxS = 200
const setupTimeoutDefaultS = 120
const outputBytesMax = 512 * 1024
const logsKept = 50
const lastLines = 8

const setupSchema = z.strictObject({
  /** argv words; a shell is one by name: ["sh", "-c", "..."]. */
  setup: z.array(z.string().min(1)).min(1),
  timeout_s: z.number().int().min(1).max(setupTimeoutMaxS).default(setupTimeoutDefaultS),
})

type SetupContext = Pick<AppContext, 'store'>
const factOf = (gitDir: string): string => `worktree_setup:${gitDir}`

/** Undefined: the project names none. Errors: BAD_REQUEST for a file that is not understood. */
export async function findSetup(
  { store }: SetupContext,
  repository: { readonly gitDir: string; readonly topDir: string },
): Promise<WorktreeSetup | undefined> {
  const file = join(repository.topDir, setupFileName)
  const found = await stat(file).catch(() => undefined)
  if (found === undefined) return undefined
  const refuse = (why: string) => new AppError('BAD_REQUEST', `${file} is not understood: ${why}`)
  if (!found.isFile() || found.size > fileBytesMax) throw refuse(`it is no file of at most ${fileBytesMax} bytes`)
  const bytes = await readFile(file)
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch {
    throw refuse('it is no JSON')
  }
  const parsed = setupSchema.safeParse(value)
  if (!parsed.success) {
    throw refuse(parsed.error.issues.map(({ path, message }) => `${path.map(String).join('.')}: ${message}`).join('; '))
  }
  const digest = createHash('sha256').update(bytes).digest('hex')
  const { setup: argv, timeout_s } = parsed.data
  return {
    file,
    argv,
    timeoutMs: timeout_s * 1_000,
    digest,
    isAllowed: store.getFact(factOf(repository.gitDir)) === digest,
  }
}

/** Undefined takes the permission back. */
export function allowSetup({ store }: SetupContext, gitDir: string, digest: string | undefined): void {
  store.setFact(factOf(gitDir), digest ?? '')
}

export type RunSetup = {
  readonly id: TerminalId
  readonly setup: WorktreeSetup
  readonly path: string
  readonly branch: string
  readonly sourceDir: string
  readonly clientEnv: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** Runs it in the top of the new worktree; its output is kept in a log. Errors: LAUNCH_FAILED with its last lines, TIMEOUT, the signal's reason. */
export async function runSetup(context: AppContext, request: RunSetup): Promise<void> {
  const { setup, signal } = request
  const result = await runProcess({
    clock: context.clock,
    // One stream, so that output and complaints keep their order.
    argv: ['/bin/sh', '-c', 'exec "$@" 2>&1', 'setup', ...setup.argv],
    cwd: request.path,
    env: {
      ...selectClientEnv(request.clientEnv),
      CAO_WORKTREE: request.path,
      CAO_WORKTREE_BRANCH: request.branch,
      CAO_WORKTREE_SOURCE: request.sourceDir,
      CAO_WORKTREE_ID: request.id,
    },
    timeoutMs: setup.timeoutMs,
    signal,
    outputBytesMax,
  })
  if (result.kind === 'aborted') throw result.reason
  const output = result.kind === 'not-started' ? `${result.detail}\n` : result.stdout
  const log = await keepLog(context, request.id, output)
  if (result.kind === 'exited' && result.code === 0) return
  const how = {
    exited: () => (result.kind === 'exited' ? `ended with code ${result.code}` : ''),
    'not-started': () => 'did not start',
    'timed-out': () => `did not end within ${setup.timeoutMs / 1_000} s`,
  }[result.kind]()
  const tail = output.trimEnd().split('\n').slice(-lastLines).join('\n')
  const sentence = `the set-up that ${setup.file} names ${how}; nothing was started, and its output is in ${log}`
  throw new AppError(
    result.kind === 'timed-out' ? 'TIMEOUT' : 'LAUNCH_FAILED',
    tail === '' ? sentence : `${sentence}\nIt ended with:\n${tail}`,
    { data: { log } },
  )
}

export const setupLogOf = ({ layout }: Pick<AppContext, 'layout'>, id: string): string =>
  join(layout.logsDir, `worktree-${id}.log`)

/** Errors: none; a full disk costs the log and not the launch. */
async function keepLog(context: AppContext, id: TerminalId, output: string): Promise<string> {
  const path = setupLogOf(context, id)
  const { logsDir } = context.layout
  try {
    await writeFile(path, output, { mode: 0o600 })
    const names = (await readdir(logsDir)).filter((name) => /^worktree-[a-f0-9]{8}\.log$/.test(name))
    if (names.length <= logsKept) return path
    const dated = await Promise.all(
      names.map(async (name) => ({ name, atMs: (await stat(join(logsDir, name))).mtimeMs })),
    )
    const old = dated.sort((a, b) => b.atMs - a.atMs).slice(logsKept)
    await Promise.all(old.map(({ name }) => rm(join(logsDir, name), { force: true })))
  } catch (error) {
    context.log.write('warn', 'log of a set-up not kept', { terminalId: id, error: String(error) })
  }
  return path
}
