/**
 * Does all set-up that is missing and nothing else: npm packages (our Node among them), tmux, the bundle. Plain JavaScript
 * without dependencies, for Node 20 or newer, because it runs before anything is installed. `npm run demo`, `npm test`
 * and the others call it first; when nothing is missing it costs some ten milliseconds and prints nothing.
 */
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundleStep } from './build.mjs'
import { requireNode, verifyNode } from './node.mjs'
import { formatSeconds, main, Refusal, say } from './project.mjs'
import { withSetupLock } from './setup/lock.mjs'
import { packagesStep } from './setup/packages.mjs'
import { tmuxStep } from './setup/tmux.mjs'

/** In the order in which they are done: what can be refused at once stands first, the bundle needs the packages. */
const steps = [tmuxStep, packagesStep, bundleStep]

/**
 * Returns the absolute path of our Node, with everything in place.
 * Errors: a Refusal whose message says in one sentence what a person has to do.
 */
export async function ensureSetup() {
  if (process.platform === 'win32')
    throw new Refusal('CAO needs tmux and so runs on Linux and macOS: use WSL on Windows.')
  if (await isComplete()) return requireNode()
  return withSetupLock(async () => {
    const startedAt = performance.now()
    let done = 0
    for (const step of steps) {
      const why = await step.missing()
      if (why === undefined) continue
      const stepStartedAt = performance.now()
      say(`set-up: ${step.title} (${why}) …`)
      await step.fix()
      if (step === packagesStep) await verifyNode()
      say(`set-up: ${step.title} took ${formatSeconds(performance.now() - stepStartedAt)}`)
      done += 1
    }
    if (done > 1) say(`set-up: all done in ${formatSeconds(performance.now() - startedAt)}`)
    return requireNode()
  })
}

async function isComplete() {
  const missing = await Promise.all(steps.map((step) => step.missing()))
  return missing.every((why) => why === undefined)
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await main(async () => {
    await ensureSetup()
    say('set-up: everything is in place')
  })
}
