/** What `cao rules` does without a server: lists the rules of the providers, and tries them on captured screens. */
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { AppError } from '../domain/errors.ts'
import type { Provider } from '../providers/provider.ts'
import { type RuleData, toRuleData } from '../screen/rule-file.ts'
import { type CaptureFacts, factsOfName, mergeFacts, noFacts, parseFacts, toSnapshot } from './capture-file.ts'
import { type RecordRequest, recordScreen } from './record-screen.ts'
import { applyRuleFile } from './rule-files.ts'
import { type Tried, tryScreen } from './try-screens.ts'

export type RuleListing = {
  readonly provider: string
  readonly title: string
  /** Of the person's rules, and whether it is there, used, or not used for its faults. */
  readonly path: string
  readonly file: 'absent' | 'used' | 'faulty'
  readonly faults: readonly string[]
  readonly regions: readonly string[]
  readonly rules: readonly (RuleData & { readonly origin: string })[]
}

export type TryRequest = {
  readonly provider: string
  readonly files: readonly string[]
  readonly facts: Partial<CaptureFacts>
}

export class ScreenTools {
  readonly #providers: readonly Provider[]
  readonly #rulesDir: string

  constructor(providers: readonly Provider[], rulesDir: string) {
    this.#providers = providers
    this.#rulesDir = rulesDir
  }

  /** Of all providers, or of one. Errors: PROVIDER_UNKNOWN. */
  async list(name: string | undefined): Promise<readonly RuleListing[]> {
    const asked = name === undefined ? this.#providers : [this.#require(name)]
    return Promise.all(asked.map((provider) => this.#listOne(provider)))
  }

  /** Each file as it is read. Errors: PROVIDER_UNKNOWN, PROFILE_INVALID for a rule file with faults, NOT_FOUND for a capture. */
  async *try({ provider: name, files, facts }: TryRequest): AsyncGenerator<{ readonly file: string } & Tried> {
    const { provider, path, faults } = await applyRuleFile(this.#require(name), this.#rulesDir)
    if (faults.length > 0) throw new AppError('VALIDATION', `${path} is not used: ${faults.join('; ')}`)
    for (const file of files) {
      const [text, beside] = await Promise.all([readCapture(file), readBeside(file)])
      const snapshot = toSnapshot(text, mergeFacts({ ...noFacts, ...facts }, beside, factsOfName(file)))
      yield { file, ...tryScreen(provider, snapshot) }
    }
  }

  /** The paths of the files. Errors: BAD_REQUEST for a name, CONFLICT where there is such a recording. */
  record(request: RecordRequest): Promise<readonly string[]> {
    return recordScreen(request)
  }

  async #listOne(given: Provider): Promise<RuleListing> {
    const { provider, path, file, faults } = await applyRuleFile(given, this.#rulesDir)
    const rules = (provider.screen?.rules ?? []).toSorted((a, b) => b.priority - a.priority)
    return {
      provider: provider.name,
      title: provider.title,
      path,
      file,
      faults,
      regions: provider.screen?.regions ?? [],
      rules: rules.map((rule) => ({ ...toRuleData(rule), origin: rule.origin ?? 'built in' })),
    }
  }

  #require(name: string): Provider {
    const found = this.#providers.find((provider) => provider.name === name)
    if (found !== undefined) return found
    const names = this.#providers.map((provider) => provider.name).join(', ')
    throw new AppError('PROVIDER_UNKNOWN', `there is no provider ${JSON.stringify(name)}; there are ${names}`)
  }
}

async function readCapture(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause)) throw cause
    throw new AppError('NOT_FOUND', `${file} can not be read (${String(cause.code)})`, { cause })
  }
}

/** The facts of the file with the same name that ends in `.json`. */
async function readBeside(file: string): Promise<CaptureFacts> {
  const path = `${file.slice(0, file.length - extname(file).length)}.json`
  try {
    return parseFacts(JSON.parse(await readFile(path, 'utf8')))
  } catch (error) {
    if (error instanceof SyntaxError || (error instanceof Error && 'code' in error)) return noFacts
    throw error
  }
}
