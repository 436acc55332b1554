/** Which npm package carries Qwen Code. It is a script for Node 22 or newer, the same on every machine. */
import type { NpmProgram } from '../npm-program.ts'

/** The version that everything here was tried with. */
export const qwenVersion = '0.24.4'

export const qwenPackage: NpmProgram = {
  packageName: '@qwen-code/qwen-code',
  version: qwenVersion,
  // The command that npm makes for it, by which a person would call it.
  programPath: '../../.bin/qwen',
}
