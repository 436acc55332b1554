/** `npm run chaos [-- args]`: set-up, then the chaos run. */
import { join } from 'node:path'
import { attach } from './process.mjs'
import { distFolder, main } from './project.mjs'
import { ensureSetup } from './setup.mjs'

await main(async () => {
  const node = await ensureSetup()
  return attach(node, [join(distFolder, 'chaos.mjs'), ...process.argv.slice(2)])
})
