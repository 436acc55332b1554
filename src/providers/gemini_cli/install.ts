/** Which npm package carries Gemini CLI. It is a script for Node, the same on every machine. */
import type { NpmProgram } from '../npm-program.ts'

/** The version that everything here was tried with. */
export const geminiVersion = '0.61.0'

export const geminiPackage: NpmProgram = {
  packageName: '@google/gemini-cli',
  version: geminiVersion,
  // The command that npm makes for it, by which a person would call it.
  programPath: '../../.bin/gemini',
}
