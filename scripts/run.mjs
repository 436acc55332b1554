/** `node scripts/run.mjs FILE [args]`: set-up, then FILE under our Node. */
import { attach } from './process.mjs'
import { main, Refusal } from './project.mjs'
import { ensureSetup } from './setup.mjs'

await main(async () => {
  const [file, ...args] = process.argv.slice(2)
  if (file === undefined) throw new Refusal('Say which file to run: node scripts/run.mjs FILE [args].')
  return attach(await ensureSetup(), [file, ...args])
})
