/** The routes as a part of `docs/http.md`: pure, from the same declarations as the OpenAPI document. */
import { z } from 'zod'
import { errorsByStatus, parametersOf, templateOf } from './openapi.ts'
import type { Access, Route } from './route.ts'

const beginMark = '<!-- routes: written by npm run openapi -->'
const endMark = '<!-- end of routes -->'

/** `text` with the part between its marks written anew. Undefined: the marks are not there. */
export function replaceReference(text: string, routes: readonly Route[]): string | undefined {
  const begin = text.indexOf(beginMark)
  const end = text.indexOf(endMark)
  if (begin < 0 || end < begin) return undefined
  return `${text.slice(0, begin + beginMark.length)}\n\n${formatReference(routes)}\n${text.slice(end)}`
}

export function formatReference(routes: readonly Route[]): string {
  return routes.map(formatRoute).join('\n')
}

const callers: Readonly<Record<Access, string>> = {
  open: 'anybody, without a token too',
  any: 'people and agents',
  reach: 'people; agents for themselves, their team and whom they work for',
  command: 'people; agents for those that they rule over',
  change: 'people; agents for themselves and those that they rule over',
  person: 'people',
}

function formatRoute(route: Route): string {
  const { method, pattern, summary, description, isUpstream, status = 200 } = route
  const parameters = parametersOf(route).map(({ name, isRequired }) => (isRequired ? `**${name}**` : name))
  const errors = [...errorsByStatus(route)]
    .map(([status, codes]) => [status, codes.filter((code) => code !== 'UNAUTHORIZED')] as const)
    .filter(([, codes]) => codes.length > 0)
    .map(([status, codes]) => `${status} ${codes.map((code) => `\`${code}\``).join(', ')}`)
  return [
    `### ${method} ${templateOf(pattern)}${isUpstream === true ? ' =' : ''}`,
    '',
    `${summary}.${description === undefined ? '' : ` ${description}`}`,
    '',
    `- For: ${callers[route.access]}`,
    ...(parameters.length === 0 ? [] : [`- Parameters: ${parameters.join(', ')}`]),
    `- Answer: ${status} ${formatAnswer(route.answer)}`,
    ...(errors.length === 0 ? [] : [`- Refusals: ${errors.join('; ')}`]),
    '',
  ].join('\n')
}

function formatAnswer(answer: Route['answer']): string {
  if (typeof answer === 'string') return answer
  if (answer instanceof z.ZodArray) return `a list of ${formatAnswer(answer.element as z.ZodType)}`
  const id = z.globalRegistry.get(answer)?.id
  if (id !== undefined) return id
  return answer instanceof z.ZodObject ? `\`{${Object.keys(answer.shape).join(', ')}}\`` : 'JSON'
}
