/**
 * A copy of opencode for tests and for people who have none: the package that carries the program for this machine,
 * at one version, in a folder of its own. Its install scripts are not run and nothing outside the folder is written.
 */
import { execFile } from 'node:child_process'
import { access, constants, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Waiting } from '../../async/wait.ts'

/** The version that everything here was tried with. */
export const opencodeVersion = '1.18.33'

export type InstallOutcome =
  | { readonly kind: 'installed'; readonly program: string; readonly isNew: boolean }
  | { readonly kind: 'failed'; readonly why: string }

const outputBytesMax = 1024 * 1024

/** The program's path below `dir`, whether or not it is there. */
export function opencodeProgramIn(dir: string): string {
  return join(dir, 'node_modules', packageName(), 'bin', 'opencode')
}

function packageName(): string {
  return `opencode-${process.platform}-${process.arch}`
}

/**
 * Installs into `dir` unless the program is there. `npm`: argv of npm. The folder appears when it is complete.
 * Errors: the file system's, for `dir` itself.
 */
export async function installOpencode(
  options: { readonly dir: string; readonly npm: readonly string[] },
  waiting: Waiting,
): Promise<InstallOutcome> {
  const { dir } = options
  const program = opencodeProgramIn(dir)
  if (await isThere(program)) return { kind: 'installed', program, isNew: false }
  const making = `${dir}.making-${process.pid}`
  await mkdir(making, { recursive: true })
  try {
    const failure = await runNpm({ ...options, dir: making }, waiting)
    if (failure !== undefined) return { kind: 'failed', why: failure }
    if (!(await isThere(opencodeProgramIn(making)))) {
      return { kind: 'failed', why: `${packageName()} ${opencodeVersion} holds no program for this machine` }
    }
    await rm(dir, { recursive: true, force: true })
    await rename(making, dir)
    return { kind: 'installed', program, isNew: true }
  } finally {
    await rm(making, { recursive: true, force: true })
  }
}

async function isThere(program: string): Promise<boolean> {
  try {
    await access(program, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Why it failed; undefined when it did not. */
function runNpm(
  { dir, npm }: { readonly dir: string; readonly npm: readonly string[] },
  { signal }: Waiting,
): Promise<string | undefined> {
  const [command = 'npm', ...first] = npm
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--no-save']
  const args = [...first, 'install', '--prefix', dir, ...flags, `${packageName()}@${opencodeVersion}`]
  return new Promise((resolve) => {
    execFile(command, args, { cwd: dir, signal, maxBuffer: outputBytesMax }, (error, _stdout, stderr) => {
      resolve(error === null ? undefined : stderr.trim().split('\n').slice(0, 5).join('\n') || error.message)
    })
  })
}
