/**
 * `npm test [-- vitest's arguments]`: set-up, the checks, then every test on the real tmux with the scripted agent.
 * With arguments (`npm test -- src/tmux`) only what they select, without the checks. `--shared`: the tests that read
 * the folder `../shared`. The last line is `N passed, N failed`.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { runChecks } from './check.mjs'
import { main, Refusal, root } from './project.mjs'
import { ensureSetup } from './setup.mjs'
import { formatCount, runSuite } from './suite.mjs'

await main(async () => {
  const args = process.argv.slice(2)
  const isShared = args.includes('--shared')
  const rest = args.filter((arg) => arg !== '--shared')
  if (isShared && !existsSync(join(root, '..', 'shared'))) {
    throw new Refusal(
      'These tests read the folder shared/ beside the checkout, and there is none: run npm test, which needs nothing beside it.',
    )
  }
  const node = await ensureSetup()
  const checks = isShared || rest.length > 0 ? { passed: 0, failed: [] } : await runChecks(node, { withTidy: false })
  const tests = await runSuite(node, { mode: isShared ? 'shared' : 'test', args: rest })
  const total = {
    passed: checks.passed + tests.passed,
    failed: checks.failed.length + tests.failed,
    skipped: tests.skipped,
  }
  if (checks.failed.length > 0)
    console.log(`checks that failed (npm run check shows them again): ${checks.failed.join(', ')}`)
  console.log(formatCount(total))
  return total.failed === 0 ? 0 : 1
})
