/** Which npm package carries Codex for this machine. */
import type { Waiting } from '../../async/wait.ts'
import { type InstallOutcome, installProgram, type NpmProgram, programIn } from '../npm-program.ts'

/** The version that everything here was tried with. */
export const codexVersion = '0.171.0'

/** Rust's names for the machines that the package has a program for. */
const targets: Readonly<Record<string, string>> = {
  'linux-x64': 'x86_64-unknown-linux-musl',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
}
const machine = `${process.platform}-${process.arch}`

/** The versions of `@openai/codex` that end in a machine's name carry its program; the plain one is only a launcher. */
export const codexPackage: NpmProgram = {
  packageName: '@openai/codex',
  version: `${codexVersion}-${machine}`,
  programPath: `vendor/${targets[machine] ?? machine}/bin/codex`,
}

export const codexProgramIn = (dir: string): string => programIn(dir, codexPackage)

export function installCodex(
  options: { readonly dir: string; readonly npm: readonly string[] },
  waiting: Waiting,
): Promise<InstallOutcome> {
  return installProgram(codexPackage, options, waiting)
}
