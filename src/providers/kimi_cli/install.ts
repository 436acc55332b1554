/** Which npm package carries Kimi Code. It is a script for Node, the same for every machine. */
import type { NpmProgram } from '../npm-program.ts'

/** The version that everything here was tried with. */
export const kimiVersion = '2.1.0'

export const kimiPackage: NpmProgram = {
  packageName: '@moonshot-ai/kimi-code',
  version: kimiVersion,
  /** Under the name that a person knows it by. */
  programPath: '../../.bin/kimi',
}
