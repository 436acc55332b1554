/**
 * Which profile suits a task: profiles ranked by the words of a query. Pure.
 *
 * Only what a profile says of itself is compared (name, description, capabilities, tags), never its prompt. More words of
 * the query found goes before everything; of equals, the rarer words in the shorter text win (BM25+, which stays above zero for
 * words that nearly every profile has; Lv and Zhai, "Lower-bounding term frequency normalization", 2011).
 */
import type { ListedProfile } from './profile-files.ts'

export type ProfileHit = {
  readonly listed: ListedProfile
  /** How many different words of the query it has. */
  readonly coverage: number
  readonly score: number
}

export const searchLimitMax = 100
export const searchLimitDefault = 10

const saturation = 1.5
const lengthWeight = 0.75
const lowerBound = 1

export function searchProfiles(
  profiles: readonly ListedProfile[],
  query: string,
  limit = searchLimitDefault,
): readonly ProfileHit[] {
  const words = [...new Set(splitWords(query))]
  const documents = profiles
    .filter(({ fault }) => fault === undefined)
    .map((listed) => ({ listed, words: splitWords(describe(listed)) }))
  const total = documents.reduce((sum, document) => sum + document.words.length, 0)
  const meanLength = Math.max(1, total / Math.max(1, documents.length))
  const rarities = words.map((word) => {
    const having = documents.filter((document) => document.words.includes(word)).length
    return Math.log((documents.length + 1) / Math.max(1, having))
  })
  const hits = documents.map((document): ProfileHit => {
    const counts = words.map((word) => document.words.filter((one) => one === word).length)
    const length = 1 - lengthWeight + (lengthWeight * document.words.length) / meanLength
    const score = counts.reduce((sum, count, index) => {
      if (count === 0) return sum
      const weight = (count * (saturation + 1)) / (count + saturation * length) + lowerBound
      return sum + (rarities[index] ?? 0) * weight
    }, 0)
    const coverage = counts.filter((count) => count > 0).length
    return { listed: document.listed, coverage, score: Math.round(score * 10_000) / 10_000 }
  })
  return hits
    .filter(({ coverage }) => coverage > 0)
    .toSorted((a, b) => b.coverage - a.coverage || b.score - a.score || (a.listed.name < b.listed.name ? -1 : 1))
    .slice(0, limit)
}

function describe({ name, description, capabilities, tags }: ListedProfile): string {
  return [name, description, ...capabilities, ...tags].join(' ')
}

/** Letters and digits of any script; `code_supervisor` is two words. */
function splitWords(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}
