/**
 * `npm run test:package [-- vitest's arguments]`: packs the project, installs the package into empty prefixes under the Nodes
 * it is for, and tries it there with nothing of the checkout. Needs npm's registry. The last line is `N passed, N failed`.
 */
import { main } from './project.mjs'
import { ensureSetup } from './setup.mjs'
import { formatCount, runSuite } from './suite.mjs'

await main(async () => {
  const node = await ensureSetup()
  const total = await runSuite(node, { mode: 'package', args: process.argv.slice(2) })
  console.log(formatCount(total))
  return total.failed === 0 ? 0 : 1
})
