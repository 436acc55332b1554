/**
 * An answer to a question of opencode as its API takes it: for each part a list of labels or own words. For what keys can not
 * give: several parts, several answers, words of one's own. Pure. Source: opencode 1.18.33, `POST /question/{id}/reply`.
 */
import { type Fields, isFields, listOf, textOf } from '../fields.ts'

export type ReplyPlan =
  | { readonly kind: 'answers'; readonly answers: readonly (readonly string[])[] }
  | { readonly kind: 'refused'; readonly why: string }

const refused = (why: string): ReplyPlan => ({ kind: 'refused', why })
const squeeze = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().toLowerCase()

/** One line for each part; where a part takes several answers they stand in its line with commas. */
export function planReply(request: Fields, answer: string): ReplyPlan {
  const parts = listOf(request, 'questions').filter(isFields)
  const lines = parts.length === 1 ? [answer.trim()] : answer.split('\n').map((line) => line.trim())
  const given = lines.filter((line) => line !== '')
  if (parts.length === 0 || given.length !== parts.length) {
    const asked = parts.map((part) => textOf(part, 'question') ?? '').join(' · ')
    return refused(`it asks for ${parts.length} answers, one in each line: ${asked}`)
  }
  const answers: (readonly string[])[] = []
  for (const [index, part] of parts.entries()) {
    const labels = listOf(part, 'options')
      .filter(isFields)
      .flatMap((option) => textOf(option, 'label') ?? [])
    const chosen = choose(given[index] ?? '', { labels, isMultiple: part['multiple'] === true })
    const foreign = chosen.find((each) => !labels.includes(each))
    if (foreign !== undefined && part['custom'] === false)
      return refused(`"${foreign}" is none of: ${labels.join(' · ')}`)
    answers.push(chosen)
  }
  return { kind: 'answers', answers }
}

type Offer = { readonly labels: readonly string[]; readonly isMultiple: boolean }

function choose(line: string, { labels, isMultiple }: Offer): readonly string[] {
  const toLabel = (text: string): string => {
    const number = /^\d{1,2}$/.test(text) ? Number(text) : 0
    return labels[number - 1] ?? labels.find((label) => squeeze(label) === squeeze(text)) ?? text
  }
  const whole = toLabel(line)
  if (!isMultiple || labels.includes(whole)) return [whole]
  return [...new Set(line.split(',').map((each) => toLabel(each.trim())))].filter((each) => each !== '')
}
