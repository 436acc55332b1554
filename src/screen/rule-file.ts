/**
 * A person's rules for one provider: the same data as the built-in ones, checked to the last word. A file with a fault is
 * not used at all, so that nobody works under half of what they wrote. Pure; `cao rules list --json` prints this form.
 */
import { formatPattern, parsePattern } from './pattern.ts'
import { type Condition, type RuleChanges, type ScreenRule, type ScreenWord, screenWords } from './rules.ts'

export const rulesMax = 200
export const patternsMax = 20
const nameCharsMax = 60

/** A rule as the file has it; patterns as `pattern.ts` reads them. */
export type RuleData = ConditionData & {
  readonly name: string
  readonly priority: number
  readonly says: ScreenWord
  readonly also?: readonly ConditionData[]
  readonly versions?: string
}
type ConditionData = {
  readonly region: string
  readonly all?: readonly string[]
  readonly any?: readonly string[]
  readonly not?: readonly string[]
}

export type RuleFileContext = {
  readonly origin: string
  readonly regions: readonly string[]
  /** Names of the built-in rules. */
  readonly names: readonly string[]
}

export type RuleFileOutcome =
  | { readonly kind: 'rules'; readonly changes: RuleChanges }
  /** Each names the place and what is wrong there. */
  | { readonly kind: 'faults'; readonly faults: readonly string[] }

const conditionKeys = ['region', 'all', 'any', 'not']
const ruleKeys = [...conditionKeys, 'name', 'priority', 'says', 'also', 'versions']

type Fields = Readonly<Record<string, unknown>>
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `data` is what the YAML or JSON holds: `{ rules: [...], off: [names] }`. */
export function parseRuleFile(data: unknown, context: RuleFileContext): RuleFileOutcome {
  const reader = new RuleReader(context)
  const changes = reader.read(data)
  return reader.faults.length === 0 ? { kind: 'rules', changes } : { kind: 'faults', faults: reader.faults }
}

export function toRuleData({ name, priority, says, also, versions, ...condition }: ScreenRule): RuleData {
  return {
    name,
    priority,
    ...toConditionData(condition),
    ...(also === undefined ? {} : { also: also.map(toConditionData) }),
    says,
    ...(versions === undefined ? {} : { versions }),
  }
}

function toConditionData({ region, all, any, not }: Condition<string>): ConditionData {
  return {
    region,
    ...(all === undefined ? {} : { all: all.map(formatPattern) }),
    ...(any === undefined ? {} : { any: any.map(formatPattern) }),
    ...(not === undefined ? {} : { not: not.map(formatPattern) }),
  }
}

class RuleReader {
  readonly faults: string[] = []
  readonly #context: RuleFileContext
  #patterns = 0

  constructor(context: RuleFileContext) {
    this.#context = context
  }

  read(data: unknown): RuleChanges {
    if (!isFields(data)) return this.#fault('the file', 'holds no "rules"', { rules: [], off: [] })
    this.#refuseOthers('the file', data, ['rules', 'off'])
    const { rules = [], off = [] } = data
    const list = Array.isArray(rules) ? (rules as readonly unknown[]) : this.#fault('rules', 'is no list', [])
    if (list.length > rulesMax) this.#fault('rules', `has ${list.length}; ${rulesMax} at most`, undefined)
    const read = list.slice(0, rulesMax).flatMap((rule, at) => this.#readRule(rule, `rule ${at + 1}`) ?? [])
    for (const [at, { name }] of read.entries()) {
      if (read.findIndex((other) => other.name === name) < at) this.#fault(`rule "${name}"`, 'stands twice', undefined)
    }
    return { rules: read, off: this.#readOff(off) }
  }

  #readOff(off: unknown): readonly string[] {
    const names = this.#readTexts(off, 'off')
    for (const name of names) {
      if (!this.#context.names.includes(name)) this.#fault('off', `there is no built-in rule "${name}"`, undefined)
    }
    return names
  }

  #readRule(data: unknown, at: string): ScreenRule | undefined {
    if (!isFields(data)) return this.#fault(at, 'is no rule', undefined)
    const { name, priority, says, also, versions } = data
    const place = typeof name === 'string' ? `${at} ("${name}")` : at
    this.#refuseOthers(place, data, ruleKeys)
    this.#patterns = 0
    const rule = {
      ...this.#readCondition(data, place),
      name: this.#readName(name, place),
      priority: Number.isFinite(priority) ? Number(priority) : this.#fault(place, '"priority" is no number', 0),
      says: this.#readWord(says, place),
      ...(also === undefined ? {} : { also: this.#readAlso(also, place) }),
      ...(versions === undefined ? {} : { versions: this.#readVersions(versions, place) }),
      origin: this.#context.origin,
    }
    if (this.#patterns > patternsMax)
      this.#fault(place, `has ${this.#patterns} patterns; ${patternsMax} at most`, undefined)
    // Without any it would hold on every screen that has the region.
    if (this.#patterns === 0) this.#fault(place, 'has no pattern: give "all", "any" or "not"', undefined)
    return rule
  }

  #readName(name: unknown, place: string): string {
    if (typeof name === 'string' && name.length > 0 && name.length <= nameCharsMax && /^[\x20-\x7e]+$/.test(name))
      return name
    return this.#fault(place, `"name" is a text of up to ${nameCharsMax} plain characters`, '')
  }

  #readVersions(versions: unknown, place: string): string {
    // A bare 2.1 is a number in YAML.
    if (typeof versions === 'string' || typeof versions === 'number') return `${versions}`
    return this.#fault(place, '"versions" is no text', '')
  }

  #readWord(says: unknown, place: string): ScreenWord {
    const word = screenWords.find((each) => each === says)
    return word ?? this.#fault(place, `"says" is one of ${screenWords.join(', ')}`, 'nothing')
  }

  #readAlso(also: unknown, place: string): readonly Condition<string>[] {
    if (!Array.isArray(also)) return this.#fault(place, '"also" is no list', [])
    return (also as readonly unknown[]).flatMap((condition) => {
      if (!isFields(condition)) return this.#fault(place, '"also" holds something that is no condition', [])
      this.#refuseOthers(`${place}, also`, condition, conditionKeys)
      return [this.#readCondition(condition, `${place}, also`)]
    })
  }

  #readCondition({ region, ...fields }: Fields, place: string): Condition<string> {
    const { regions } = this.#context
    const known = regions.find((each) => each === region)
    if (known === undefined) this.#fault(place, `"region" is one of ${regions.join(', ')}`, undefined)
    const patterns = (name: 'all' | 'any' | 'not') =>
      fields[name] === undefined ? {} : { [name]: this.#readPatterns(fields[name], `${place}, ${name}`) }
    return { region: known ?? '', ...patterns('all'), ...patterns('any'), ...patterns('not') }
  }

  #readPatterns(value: unknown, place: string): readonly RegExp[] {
    return this.#readTexts(value, place).flatMap((text) => {
      this.#patterns++
      const outcome = parsePattern(text)
      if (outcome.kind === 'pattern') return [outcome.pattern]
      return this.#fault(place, `the pattern ${JSON.stringify(text.slice(0, 80))} is refused: ${outcome.why}`, [])
    })
  }

  #readTexts(value: unknown, place: string): readonly string[] {
    if (Array.isArray(value) && value.every((each) => typeof each === 'string' && each !== '')) return value as string[]
    return this.#fault(place, 'is no list of texts', [])
  }

  #refuseOthers(place: string, fields: Fields, known: readonly string[]): void {
    for (const key of Object.keys(fields)) {
      if (!known.includes(key)) this.#fault(place, `"${key}" is none of ${known.join(', ')}`, undefined)
    }
  }

  #fault<T>(place: string, what: string, instead: T): T {
    this.faults.push(`${place}: ${what}`)
    return instead
  }
}
