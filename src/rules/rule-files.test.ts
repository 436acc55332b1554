import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createScriptedProvider } from '../providers/scripted/scripted-provider.ts'
import { noFacts, toSnapshot } from './capture-file.ts'
import { isQuick } from './pattern-trial.ts'
import { applyRuleFile } from './rule-files.ts'
import { tryScreen } from './try-screens.ts'

const provider = createScriptedProvider({ agentArgv: ['/bin/true'] })
const width = 40
const frame = (footer: string) =>
  [`╭${'─'.repeat(width - 2)}╮`, `│ ❯ ${' '.repeat(width - 5)}│`, `╰${'─'.repeat(width - 2)}╯`, footer].join('\n')
const waiting = toSnapshot(frame('  Something new · press y'), { ...noFacts, cols: width })

let dir = ''
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'cao-rules-'))
})
afterAll(() => rm(dir, { recursive: true, force: true }))
const apply = async (text: string) => {
  await writeFile(join(dir, 'scripted.yaml'), text)
  return applyRuleFile(provider, dir)
}

describe('applyRuleFile', () => {
  test('without a file the provider is as it was', async () => {
    expect(await applyRuleFile(provider, join(dir, 'none'))).toMatchObject({ provider, file: 'absent', faults: [] })
  })

  test('a named pipe in the place of the file holds nobody up', async () => {
    const pipeDir = join(dir, 'pipe')
    await mkdir(pipeDir)
    execFileSync('mkfifo', [join(pipeDir, 'scripted.yaml')])
    const faults = [`${join(pipeDir, 'scripted.yaml')} is no file`]
    expect(await applyRuleFile(provider, pipeDir)).toMatchObject({ provider, file: 'faulty', faults })
  })

  test('a rule of the file is read by the provider, and tells where it stands', async () => {
    expect(tryScreen(provider, waiting)).toMatchObject({ status: 'unknown', reason: 'no rule' })
    const ruled = await apply(
      "rules:\n  - name: new question\n    priority: 85\n    region: footer\n    all: ['press y$']\n    says: question\n",
    )
    expect(ruled).toMatchObject({ file: 'used', faults: [] })
    expect(tryScreen(ruled.provider, waiting)).toMatchObject({
      status: 'waiting_user_answer',
      reason: 'question',
      rule: 'new question',
      text: '  Something new · press y',
      origin: join(dir, 'scripted.yaml'),
    })
    expect(ruled.provider.readScreen(waiting).claim).toEqual({
      kind: 'waiting',
      reason: 'question',
      question: { text: 'Something new · press y', options: [], vendorId: undefined },
    })
  })

  test('a built-in rule can be taken away', async () => {
    const resting = toSnapshot(frame('  Enter to send · x'), { ...noFacts, cols: width })
    expect(tryScreen(provider, resting).status).toBe('idle')
    expect(tryScreen((await apply("off: ['resting footer']")).provider, resting).status).toBe('unknown')
  })

  test.each([
    ['no YAML', 'rules: [', 'Flow sequence'],
    [
      'a rule with a fault',
      'rules:\n  - { name: a, priority: 1, region: head, all: [x], says: busy }',
      '"region" is one of',
    ],
    ['an alias', 'rules: &a []\noff: *a', 'Alias'],
    [
      'a pattern that takes too long',
      "rules:\n  - { name: a, priority: 1, region: footer, all: ['(?:a|a)*$'], says: busy }",
      'too long',
    ],
  ])('%s: nothing of the file is used, and the reason is told', async (_what, text, why) => {
    const ruled = await apply(text)
    expect(ruled).toMatchObject({ provider, file: 'faulty' })
    expect(ruled.faults.join()).toContain(why)
  })
})

test.each(['^(?:a|a)+$', '(?:\\w\\w?)+!'])('the pattern %s is found to be slow', (pattern) => {
  expect(isQuick(new RegExp(pattern))).toBe(false)
})

test('the patterns of the built-in rules are quick by the measure that is asked of a person', () => {
  const patterns = (provider.screen?.rules ?? []).flatMap(({ all = [], any = [], not = [] }) => [
    ...all,
    ...any,
    ...not,
  ])
  expect(patterns.length).toBeGreaterThan(5)
  expect(patterns.filter((pattern) => !isQuick(pattern))).toEqual([])
})
