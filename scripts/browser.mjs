/** `npm run test:browser [-- vitest's arguments]`: the tests in a real Chromium, which is installed by apt where it is missing. The last line is `N passed, N failed`. */
import { main } from './project.mjs'
import { ensureChromium } from './setup/chromium.mjs'
import { ensureSetup } from './setup.mjs'
import { formatCount, runSuite } from './suite.mjs'

await main(async () => {
  const node = await ensureSetup()
  await ensureChromium()
  const total = await runSuite(node, { mode: 'browser', args: process.argv.slice(2) })
  console.log(formatCount(total))
  return total.failed === 0 ? 0 : 1
})
