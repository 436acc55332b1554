/**
 * Screen rules as data: what a screen says is looked up, not programmed. A rule names a region (cut out of the
 * snapshot by the provider), patterns that must all match, of which one must match, and that must not; `also` asks the same
 * of other regions. The matching rule of the highest priority wins, among equals the first. The rules of a provider and
 * those of a person's file (`rule-file.ts`) are the same data. Pure.
 */

/**
 * All that a rule can say. `nothing`: known, but no claim follows, as from a screen that covers what would tell. `fresh`: at
 * rest before there is a conversation; no claim follows, since what is typed there would not reach ours.
 */
export const screenWords = [
  'ready',
  'fresh',
  'busy',
  'background',
  'retrying',
  'permission',
  'question',
  'trust',
  'login',
  'update',
  'rate_limited',
  'api_error',
  'nothing',
] as const
export type ScreenWord = (typeof screenWords)[number]

export type Condition<Region extends string> = {
  readonly region: Region
  readonly all?: readonly RegExp[]
  readonly any?: readonly RegExp[]
  readonly not?: readonly RegExp[]
}

export type ScreenRule<Region extends string = string, Says = ScreenWord> = Condition<Region> & {
  /** Shown by `cao explain`. */
  readonly name: string
  readonly priority: number
  /** What must hold of other regions as well. */
  readonly also?: readonly Condition<Region>[]
  readonly says: Says
  /** Versions of the program on which it was seen. */
  readonly versions?: string
  /** The file that it stands in; undefined: built in. */
  readonly origin?: string
}

/** The text of each region, lines joined by newline; a region that is not on this screen is undefined. */
export type Regions<Region extends string> = Readonly<Record<Region, string | undefined>>

export type RuleMatch<Region extends string = string, Says = ScreenWord> = {
  readonly rule: ScreenRule<Region, Says>
  readonly text: string
}

/** The winning rule and its region's text. Patterns have no `g` or `y` flag: they would remember. */
export function matchRules<Region extends string, Says>(
  rules: readonly ScreenRule<Region, Says>[],
  regions: Regions<Region>,
): RuleMatch<Region, Says> | undefined {
  let best: ScreenRule<Region, Says> | undefined
  for (const rule of rules) {
    if (best !== undefined && best.priority >= rule.priority) continue
    if (holds(rule, regions)) best = rule
  }
  return best === undefined ? undefined : { rule: best, text: regions[best.region] ?? '' }
}

/** Whether all that a rule asks for is on this screen. A region that is not there matches nothing. */
export function holds<Region extends string>(
  { also = [], ...first }: Condition<Region> & { readonly also?: readonly Condition<Region>[] },
  regions: Regions<Region>,
): boolean {
  return [first, ...also].every(({ region, all = [], any, not = [] }) => {
    const text = regions[region]
    return (
      text !== undefined &&
      all.every((pattern) => pattern.test(text)) &&
      (any === undefined || any.some((pattern) => pattern.test(text))) &&
      !not.some((pattern) => pattern.test(text))
    )
  })
}

export type RuleChanges = {
  readonly rules: readonly ScreenRule[]
  /** Names of rules that are taken away. */
  readonly off: readonly string[]
}

/** A person's rules over those of the provider: one of the same name takes the other's place, the rest are added. */
export function replaceRules(rules: readonly ScreenRule[], changes: RuleChanges): readonly ScreenRule[] {
  const names = new Set(rules.map(({ name }) => name))
  const kept = rules.filter(({ name }) => !changes.off.includes(name))
  const changed = kept.map((rule) => changes.rules.find(({ name }) => name === rule.name) ?? rule)
  return [...changed, ...changes.rules.filter(({ name }) => !names.has(name))]
}
