/**
 * What an agent is told of skills at its start: names and one line each, below its own prompt; it loads the text of one by
 * `load_skill` when it needs it. Pure.
 */
import { allowsServer, type ToolList } from '../domain/tools.ts'
import type { ListedSkill } from '../home/skill-files.ts'

/** More would cost every turn of every agent more than they give. */
export const catalogueSkillsMax = 60
/** Of one description. Units: characters. */
const lineLengthMax = 300

export type Catalogue = {
  readonly skills: readonly ListedSkill[]
  /** `skills` of the profile: undefined is all, empty is none. */
  readonly patterns: readonly string[] | undefined
  readonly tools: ToolList
}

/** The prompt with the catalogue; undefined when there is neither. An agent without CAO's tools could load nothing and is told nothing. */
export function addCatalogue(prompt: string, { skills, patterns, tools }: Catalogue): string | undefined {
  const isNamed = (name: string) => patterns === undefined || patterns.some((pattern) => matches(pattern, name))
  const offered = skills.filter(({ name, fault }) => fault === undefined && isNamed(name))
  const parts = [prompt.trim()]
  if (offered.length > 0 && allowsServer(tools, 'cao-mcp-server')) parts.push(format(offered))
  const whole = parts.filter((part) => part !== '').join('\n\n')
  return whole === '' ? undefined : whole
}

function format(offered: readonly ListedSkill[]): string {
  const lines = offered.slice(0, catalogueSkillsMax).map(({ name, description }) => `- ${name}: ${cut(description)}`)
  const left = offered.length - lines.length
  return [
    '## Skills',
    '',
    'Instructions that you can load with the tool `load_skill`, by name, before you do what one is about:',
    '',
    ...lines,
    ...(left > 0 ? [`- and ${left} more that are not listed here`] : []),
  ].join('\n')
}

const cut = (line: string): string => (line.length > lineLengthMax ? `${line.slice(0, lineLengthMax - 1)}…` : line)

/** `*` is any number of characters, `?` one. */
function matches(pattern: string, name: string): boolean {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&')
  // Several stars are one: a longer run would only be slower.
  return new RegExp(`^${escaped.replace(/\*+/g, '.*').replaceAll('?', '.')}$`, 's').test(name)
}
