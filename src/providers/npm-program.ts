/**
 * A copy of an agent's program for tests and for people who have none: the npm package that carries it for this machine,
 * at one version, in a folder of its own. Its install scripts are not run and nothing outside the folder is written.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Waiting } from '../async/wait.ts'
import { isExecutable } from './program-path.ts'

export type NpmProgram = {
  /** Name of the package for this platform. */
  readonly packageName: string
  readonly version: string
  /** Path of the program inside the package. */
  readonly programPath: string
}

export type InstallOutcome =
  | { readonly kind: 'installed'; readonly program: string; readonly isNew: boolean }
  | { readonly kind: 'failed'; readonly why: string }

const outputBytesMax = 1024 * 1024

/** The program's path below `dir`, whether or not it is there. */
export function programIn(dir: string, { packageName, programPath }: NpmProgram): string {
  return join(dir, 'node_modules', packageName, programPath)
}

/**
 * Installs into `dir` unless the program is there. `npm`: argv of npm. The folder appears when it is complete; of several
 * installers at once the first one wins.
 * Errors: the file system's, for `dir` itself.
 */
export async function installProgram(
  program: NpmProgram,
  options: { readonly dir: string; readonly npm: readonly string[] },
  waiting: Waiting,
): Promise<InstallOutcome> {
  const { dir } = options
  const path = programIn(dir, program)
  if (await isExecutable(path)) return { kind: 'installed', program: path, isNew: false }
  const wanted = `${program.packageName}@${program.version}`
  const making = await mkdtemp(`${dir}.making-`)
  try {
    const failure = await runNpm({ dir: making, npm: options.npm, wanted }, waiting)
    if (failure !== undefined) return { kind: 'failed', why: failure }
    if (!(await isExecutable(programIn(making, program)))) {
      return { kind: 'failed', why: `${wanted} holds no program for this machine` }
    }
    const isNew = await moveIntoPlace(making, dir, () => isExecutable(path))
    return { kind: 'installed', program: path, isNew }
  } finally {
    await rm(making, { recursive: true, force: true })
  }
}

/** False when somebody else was quicker: its program may run already, and what stands whole is never replaced. */
async function moveIntoPlace(from: string, to: string, isWhole: () => Promise<boolean>): Promise<boolean> {
  try {
    await rename(from, to)
  } catch (error) {
    if (!isFilled(error)) throw error
    if (await isWhole()) return false
    await rm(to, { recursive: true, force: true })
    await rename(from, to)
  }
  return true
}

const isFilled = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOTEMPTY' || error.code === 'EEXIST')

type NpmRun = { readonly dir: string; readonly npm: readonly string[]; readonly wanted: string }

/** Why it failed; undefined when it did not. */
function runNpm({ dir, npm, wanted }: NpmRun, { signal }: Waiting): Promise<string | undefined> {
  const [command = 'npm', ...first] = npm
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--no-save']
  const args = [...first, 'install', '--prefix', dir, ...flags, wanted]
  return new Promise((resolve) => {
    execFile(command, args, { cwd: dir, signal, maxBuffer: outputBytesMax }, (error, _stdout, stderr) => {
      resolve(error === null ? undefined : stderr.trim().split('\n').slice(0, 5).join('\n') || error.message)
    })
  })
}
