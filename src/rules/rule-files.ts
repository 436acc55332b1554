/**
 * The rule files of a home, `rules/PROVIDER.yaml`: read, checked, and laid over the built-in rules. Read at the start of the
 * server and by `cao rules`. A file with a fault changes nothing; who uses it tells why.
 */
import { join } from 'node:path'
import { parse, YAMLParseError } from 'yaml'
import { AppError } from '../domain/errors.ts'
import { readPrivateFile } from '../home/private-file.ts'
import type { Log } from '../lib/log.ts'
import type { Provider } from '../providers/provider.ts'
import { parseRuleFile } from '../screen/rule-file.ts'
import type { ScreenRule } from '../screen/rules.ts'
import { isQuick } from './pattern-trial.ts'

const fileBytesMax = 128 * 1024

export type RuledProvider = {
  /** With the rules of the file, where there is one and it has no fault. */
  readonly provider: Provider
  readonly path: string
  readonly file: 'absent' | 'used' | 'faulty'
  readonly faults: readonly string[]
}

/** Errors: none; what can not be read is a fault. */
export async function applyRuleFile(provider: Provider, rulesDir: string): Promise<RuledProvider> {
  const path = join(rulesDir, `${provider.name}.yaml`)
  const text = await readText(path)
  if (text === undefined) return { provider, path, file: 'absent', faults: [] }
  const faulty = (faults: readonly string[]): RuledProvider => ({ provider, path, file: 'faulty', faults })
  if (text instanceof Error) return faulty([text.message])
  const { screen } = provider
  if (screen === undefined) return faulty([`${provider.title} reads its screen by code: it takes no rules`])
  const data = parseYaml(text)
  if (data instanceof Error) return faulty([data.message.split('\n', 1)[0] ?? ''])
  const names = screen.rules.map(({ name }) => name)
  const outcome = parseRuleFile(data.value, { origin: path, regions: screen.regions, names })
  if (outcome.kind === 'faults') return faulty(outcome.faults)
  const slow = outcome.changes.rules.flatMap(findSlow)
  if (slow.length > 0) return faulty(slow)
  const ruled = screen.withRules(outcome.changes)
  return { provider: { ...provider, screen: ruled, readScreen: ruled.read }, path, file: 'used', faults: [] }
}

async function readText(path: string): Promise<string | AppError | undefined> {
  try {
    return await readPrivateFile(path, fileBytesMax)
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

function parseYaml(text: string): { readonly value: unknown } | Error {
  try {
    // An alias could make a small file large.
    return { value: parse(text, { maxAliasCount: 0 }) as unknown }
  } catch (error) {
    if (error instanceof YAMLParseError || error instanceof ReferenceError) return error
    throw error
  }
}

function findSlow(rule: ScreenRule): readonly string[] {
  return [rule, ...(rule.also ?? [])]
    .flatMap(({ all = [], any = [], not = [] }) => [...all, ...any, ...not])
    .filter((pattern) => !isQuick(pattern))
    .map(({ source }) => `rule "${rule.name}": the pattern ${JSON.stringify(source)} is refused: it can take too long`)
}

/** All providers with the rules of the home; a file that is not used is logged. Errors: none. */
export async function applyRuleFiles(
  providers: readonly Provider[],
  rulesDir: string,
  log: Log,
): Promise<readonly Provider[]> {
  const ruled = await Promise.all(providers.map((provider) => applyRuleFile(provider, rulesDir)))
  for (const { path, file, faults } of ruled) {
    if (file === 'faulty') log.write('warn', 'screen rules not used', { path, faults: faults.join('; ') })
    if (file === 'used') log.write('info', 'screen rules of the home are used', { path })
  }
  return ruled.map(({ provider }) => provider)
}
