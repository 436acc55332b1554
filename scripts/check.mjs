/**
 * `npm run check`: format, types, lint, and the rules of test/tidy.test.ts. `npm test` counts the same checks, but for
 * the tidy test, which it runs among the others.
 */
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { capture } from './process.mjs'
import { formatSeconds, main, root } from './project.mjs'
import { ensureSetup } from './setup.mjs'

const checkLimitMs = 5 * 60_000

const checks = [
  { name: 'format', tool: '@biomejs/biome/bin/biome', args: ['check', '--error-on-warnings', '.'] },
  { name: 'types', tool: 'typescript/bin/tsc', args: ['-p', 'tsconfig.json'] },
  { name: 'types of the pure core', tool: 'typescript/bin/tsc', args: ['-p', 'tsconfig.pure.json'] },
  { name: 'lint', tool: 'oxlint/bin/oxlint', args: ['--type-aware', '--deny-warnings'] },
]

const tidy = { name: 'tidy', tool: 'vitest/vitest.mjs', args: ['run', '--reporter=dot', 'test/tidy.test.ts'] }

/** Runs each check, prints one line for each and the output of those that fail; returns how many passed and failed. */
export async function runChecks(node, { withTidy }) {
  const count = { passed: 0, failed: [] }
  for (const check of withTidy ? [...checks, tidy] : checks) {
    const startedAt = performance.now()
    const tool = join(root, 'node_modules', check.tool)
    const { code, output } = await capture(node, [tool, ...check.args], { cwd: root, limitMs: checkLimitMs })
    const took = formatSeconds(performance.now() - startedAt)
    if (code === 0) {
      count.passed += 1
      console.log(`check: ${check.name} ok (${took})`)
    } else {
      count.failed.push(check.name)
      console.log(`${output.trimEnd()}\ncheck: ${check.name} FAILED (${took})`)
    }
  }
  return count
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await main(async () => {
    const node = await ensureSetup()
    const { failed } = await runChecks(node, { withTidy: true })
    console.log(failed.length === 0 ? 'check: all ok' : `check: failed: ${failed.join(', ')}`)
    return failed.length === 0 ? 0 : 1
  })
}
