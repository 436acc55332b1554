/** Which npm package carries Copilot CLI for this machine. */
import type { NpmProgram } from '../npm-program.ts'

/** The version that everything here was tried with. */
export const copilotVersion = '1.0.102'

/** The launcher package `@github/copilot` only chooses among these. */
export const copilotPackage: NpmProgram = {
  packageName: `@github/copilot-${process.platform}-${process.arch}`,
  version: copilotVersion,
  programPath: 'copilot',
}
