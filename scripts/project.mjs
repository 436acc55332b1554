/**
 * Where things are in the checkout. Everything that a script writes lands under one of the ignored
 * folders `node_modules/`, `dist/` and `.cache/`.
 */
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
export const cacheFolder = join(root, '.cache')
export const distFolder = join(root, 'dist')

/** A failure that a person can do something about: its message is one sentence and no stack is shown. */
export class Refusal extends Error {}

/** Says what a script does. On stderr, so that stdout stays what the command itself prints. */
export function say(line) {
  process.stderr.write(`${line}\n`)
}

export function formatSeconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`
}

/** Runs the body of a script: a Refusal ends it with its sentence and code 1, everything else with the stack. */
export async function main(body) {
  try {
    process.exitCode = (await body()) ?? 0
  } catch (error) {
    say(error instanceof Refusal ? error.message : (error?.stack ?? String(error)))
    process.exitCode = 1
  }
}
