/** `npm run demo [-- args]`: set-up, then the demo. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { attach } from './process.mjs'
import { distFolder, main, Refusal } from './project.mjs'
import { ensureSetup } from './setup.mjs'

await main(async () => {
  const node = await ensureSetup()
  const program = join(distFolder, 'demo.mjs')
  if (!existsSync(program)) throw new Refusal('There is no demo in this checkout yet: src/main/demo.ts is missing.')
  return attach(node, [program, ...process.argv.slice(2)])
})
