/**
 * `npm run conformance [-- --ci] [-- vitest's arguments]`: the provider suites against the real CLIs, which the suites
 * install from npm at a pinned version into `.cache/`. `--ci` says that nobody watches. The last line is `N passed, N failed`.
 */
import { main } from './project.mjs'
import { ensureSetup } from './setup.mjs'
import { formatCount, runSuite } from './suite.mjs'

await main(async () => {
  const args = process.argv.slice(2)
  const node = await ensureSetup()
  const env = args.includes('--ci') ? { ...process.env, CI: 'true' } : process.env
  const total = await runSuite(node, { mode: 'conformance', args: args.filter((arg) => arg !== '--ci'), env })
  console.log(formatCount(total))
  return total.failed === 0 ? 0 : 1
})
