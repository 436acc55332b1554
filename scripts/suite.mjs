/**
 * Runs one of vitest's suites (`--mode` picks it, see vitest.config.ts) and counts from its JSON report, because the
 * exit code does not say how many, and the text is for people.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { attach } from './process.mjs'
import { root } from './project.mjs'

/** Output streams to our terminal. Returns `{passed, failed, skipped}`; a run that found no test counts as one failure. */
export async function runSuite(node, { mode, args, env }) {
  const folder = mkdtempSync(join(tmpdir(), 'cao-suite-'))
  const report = join(folder, 'report.json')
  try {
    const code = await attach(
      node,
      [
        join(root, 'node_modules', 'vitest', 'vitest.mjs'),
        'run',
        `--mode=${mode}`,
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${report}`,
        ...args,
      ],
      { cwd: root, env },
    )
    const told = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined
    for (const name of secondTries(told)) console.log(`passed only at the second try: ${name}`)
    return count(code, told)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Pure: the tests that failed once and then passed (`retry` in vitest.config.ts). */
export function secondTries(report) {
  return (report?.testResults ?? []).flatMap((file) =>
    file.assertionResults
      .filter((test) => test.status === 'passed' && test.failureMessages.length > 0)
      .map((test) => test.fullName),
  )
}

/** Pure: what the report and the exit code amount to. A failure without a failed test (a file that did not load, an error outside any test) counts too. */
export function count(exitCode, report) {
  if (report === undefined) return { passed: 0, failed: 1, skipped: 0 }
  const brokenFiles = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  )
  const passed = report.numPassedTests
  const skipped = report.numPendingTests + report.numTodoTests
  let failed = report.numFailedTests + brokenFiles.length
  if (failed === 0 && (exitCode !== 0 || passed === 0)) failed = 1
  return { passed, failed, skipped }
}

/** The line that CI counts. It must be the last one. */
export function formatCount({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
