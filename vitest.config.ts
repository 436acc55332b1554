import { configDefaults, defineConfig } from 'vitest/config'

/** The suites, picked by `--mode`: plain `vitest run` is the suite of `npm test`, which needs nothing beside the checkout. */
const suites: Record<string, { include: string[]; exclude: string[] }> = {
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['**/*.shared.test.ts', 'test/conformance/**', 'test/package/**', 'test/browser/**'],
  },
  shared: { include: ['src/**/*.shared.test.ts', 'test/**/*.shared.test.ts'], exclude: [] },
  package: { include: ['test/package/**/*.test.ts'], exclude: [] },
  browser: { include: ['test/browser/**/*.test.ts'], exclude: [] },
  conformance: {
    include: ['test/conformance/**/*.test.ts'],
    // Not a part of every CI run: their rigs say so, too.
    exclude: process.env['CAO_CONFORMANCE_ESSENTIAL'] === '1' ? ['test/conformance/{copilot,kimi,qwen}*.test.ts'] : [],
  },
}

export default defineConfig(({ mode }) => {
  const suite = suites[mode]
  if (suite === undefined) throw new Error(`no suite ${mode}: one of ${Object.keys(suites).join(', ')}`)
  return {
    test: {
      include: suite.include,
      exclude: [...configDefaults.exclude, ...suite.exclude],
      testTimeout: 30_000,
      hookTimeout: 30_000,
      pool: 'forks',
      maxWorkers: 2,
      fileParallelism: true,
      // Real processes on a busy machine may be late once. Nobody watches in CI: which tests needed a second try is printed there.
      retry: process.env['CI'] === 'true' ? 1 : 0,
    },
  }
})
