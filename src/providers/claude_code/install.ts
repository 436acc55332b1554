/** Which npm package carries Claude Code for this machine. */
import type { Waiting } from '../../async/wait.ts'
import { type InstallOutcome, installProgram, type NpmProgram, programIn } from '../npm-program.ts'

/** The version that everything here was tried with. */
export const claudeVersion = '2.1.332'

/** The launcher package `@anthropic-ai/claude-code` only chooses among these. */
export const claudePackage: NpmProgram = {
  packageName: `@anthropic-ai/claude-code-${process.platform}-${process.arch}`,
  version: claudeVersion,
  programPath: 'claude',
}

export const claudeProgramIn = (dir: string): string => programIn(dir, claudePackage)

export function installClaude(
  options: { readonly dir: string; readonly npm: readonly string[] },
  waiting: Waiting,
): Promise<InstallOutcome> {
  return installProgram(claudePackage, options, waiting)
}
