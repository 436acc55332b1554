/** Which npm package carries opencode for this machine. */
import type { Waiting } from '../../async/wait.ts'
import { type InstallOutcome, installProgram, type NpmProgram, programIn } from '../npm-program.ts'

/** The version that everything here was tried with. */
export const opencodeVersion = '1.18.33'

export const opencodePackage: NpmProgram = {
  packageName: `opencode-${process.platform}-${process.arch}`,
  version: opencodeVersion,
  programPath: 'bin/opencode',
}

export const opencodeProgramIn = (dir: string): string => programIn(dir, opencodePackage)

export function installOpencode(
  options: { readonly dir: string; readonly npm: readonly string[] },
  waiting: Waiting,
): Promise<InstallOutcome> {
  return installProgram(opencodePackage, options, waiting)
}
