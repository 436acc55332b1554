/**
 * Modules of Node for code that every command runs. Not by imports: those make every export of the module at once,
 * lazy ones too, which costs a command some milliseconds each (6 for node:util, measured by `npm run bench -- cli-start`).
 */
export const { parseArgs } = process.getBuiltinModule('node:util')
export const { existsSync, readFileSync } = process.getBuiltinModule('node:fs')
