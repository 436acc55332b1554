/**
 * Screen rules as data: what a screen says is looked up, not programmed. A rule names one region (cut out of the
 * snapshot by the provider), patterns that must all match, of which one must match, and that must not; the matching rule of
 * the highest priority wins, among equals the first. Pure.
 */
export type ScreenRule<Region extends string, Says> = {
  /** Shown by `cao explain`. */
  readonly name: string
  readonly priority: number
  readonly region: Region
  readonly all?: readonly RegExp[]
  readonly any?: readonly RegExp[]
  readonly not?: readonly RegExp[]
  readonly says: Says
}

/** The text of each region, lines joined by newline; a region that is not on this screen is undefined. */
export type Regions<Region extends string> = Readonly<Record<Region, string | undefined>>

export type RuleMatch<Region extends string, Says> = {
  readonly rule: ScreenRule<Region, Says>
  readonly text: string
}

/** The winning rule and its region's text. Patterns have no `g` or `y` flag: they would remember. */
export function matchRules<Region extends string, Says>(
  rules: readonly ScreenRule<Region, Says>[],
  regions: Regions<Region>,
): RuleMatch<Region, Says> | undefined {
  let best: RuleMatch<Region, Says> | undefined
  for (const rule of rules) {
    const text = regions[rule.region]
    if (text === undefined || (best !== undefined && best.rule.priority >= rule.priority)) continue
    if (matches(rule, text)) best = { rule, text }
  }
  return best
}

function matches<Region extends string, Says>(rule: ScreenRule<Region, Says>, text: string): boolean {
  const { all = [], any, not = [] } = rule
  return (
    all.every((pattern) => pattern.test(text)) &&
    (any === undefined || any.some((pattern) => pattern.test(text))) &&
    !not.some((pattern) => pattern.test(text))
  )
}
