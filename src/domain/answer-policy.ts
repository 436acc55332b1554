/**
 * Which questions of an agent another agent may answer. The profile says it (`supervisorMayAnswer`), by default questions
 * only: what grants a permission, and every trust, login and update, is for the person. Pure.
 */
import type { Question } from './question.ts'
import type { WaitingReason } from './status.ts'

/** `question`, `permission`, or `permission(PATTERN)`: only where what it would do matches, `*` standing for anything. */
export const answerRulePattern = /^(?:question|permission|permission\(.+\))$/
export const answerRulesDefault: readonly string[] = ['question']

/** What joins or hides a second command: such a line is matched by no pattern. */
const compound = /[;&|<>`\n\r]|\$\(|\$\{/

export type AnswerRight = { readonly kind: 'allowed' } | { readonly kind: 'refused'; readonly why: string }

const personOnly: ReadonlySet<WaitingReason> = new Set(['trust', 'login', 'update'])

export function mayAgentAnswer(
  question: Pick<Question, 'reason' | 'operation'>,
  rules: readonly string[] = answerRulesDefault,
): AnswerRight {
  const { reason, operation } = question
  if (personOnly.has(reason)) return refused(`a ${reason} prompt is answered by the person only`)
  if (rules.includes(reason)) return { kind: 'allowed' }
  if (reason === 'question') return refused('its profile leaves its questions to the person (supervisorMayAnswer)')
  const patterns = rules.flatMap((rule) => /^permission\((.+)\)$/.exec(rule)?.[1] ?? [])
  if (patterns.length === 0) return refused('permissions are given by the person, unless its profile says otherwise')
  if (operation === undefined) return refused('what it would do is not known, so no rule of its profile can allow it')
  if (compound.test(operation.what))
    return refused('it would do more than one thing, which no rule of its profile allows')
  const isMatch = patterns.some((pattern) => toPattern(pattern).test(operation.what.trim()))
  return isMatch ? { kind: 'allowed' } : refused(`its profile allows a supervisor only ${patterns.join(', ')}`)
}

const refused = (why: string): AnswerRight => ({ kind: 'refused', why })

const toPattern = (glob: string): RegExp => new RegExp(`^${glob.split('*').map(escapeLiteral).join('.*')}$`)

const escapeLiteral = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
