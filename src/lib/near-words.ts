/** Which of the known words somebody may have meant. Pure. */

/** At most three, the nearest first: those a third of whose letters or fewer differ, and those that hold `word` or end it. */
export function nearWords(word: string, known: readonly string[]): readonly string[] {
  const asked = word.toLowerCase()
  return known
    .map((each) => ({ each, steps: stepsBetween(asked, each.toLowerCase()) }))
    .filter(({ each, steps }) => steps <= Math.max(1, each.length / 3) || isPart(asked, each.toLowerCase()))
    .toSorted((a, b) => a.steps - b.steps)
    .slice(0, 3)
    .map(({ each }) => each)
}

const partLengthMin = 3
/** Longer words are not looked at letter by letter. */
const lengthMax = 100

const isPart = (word: string, whole: string): boolean => word.length >= partLengthMin && whole.includes(word)

/** Letters to insert, take out or change (Levenshtein's distance). */
function stepsBetween(from: string, to: string): number {
  if (from.length > lengthMax) return Number.POSITIVE_INFINITY
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [at, letter] of from.split('').entries()) {
    const next = [at + 1]
    for (const [index, other] of to.split('').entries()) {
      const change = (row[index] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(change, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
