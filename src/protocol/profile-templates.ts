/**
 * Templates of profiles: from a few answers to the text of a profile, for those who do not want to begin with an empty page. Pure; a
 * new one is one entry here. Paths and fields are upstream's, the templates are ours.
 */
import { z } from 'zod'
import { composeProfile } from '../domain/compose-profile.ts'
import { AppError } from '../domain/errors.ts'

const lineMax = 500
const line = z
  .string()
  .min(1)
  .max(lineMax)
  .regex(/^[^\r\n]*$/, 'must be one line')
const word = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must have letters, digits, "_" and "-", at most 64')
const lines = z.array(line).max(32).default([])

const common = {
  name: word.describe('Name of the profile and of its file'),
  description: line.describe('One sentence, for those who choose'),
  provider: word.optional().describe('Which CLI it is; chosen at launch when absent'),
  model: line.optional().describe('As the CLI spells it'),
  tags: z.array(word).max(32).optional().describe('For those who choose'),
}
const rules = lines.describe('What it must keep to, one sentence each')

type Template = {
  readonly description: string
  readonly config: z.ZodObject
  readonly role: string
  /** Of a config that has been checked. */
  readonly prompt: (config: Readonly<Record<string, unknown>>) => string
}

const bullets = (title: string, value: unknown): string => {
  const items = Array.isArray(value) ? value.map(String) : []
  return items.length === 0 ? '' : `\n\n## ${title}\n\n${items.map((item) => `- ${item}`).join('\n')}`
}

const templates: Readonly<Record<string, Template>> = {
  'team/lead': {
    description: 'Leads a team: splits a goal, delegates the parts, checks what comes back',
    config: z.strictObject({
      ...common,
      goal: line.describe('What the team is for'),
      workers: z.array(word).max(32).default([]).describe('Profiles that it delegates to'),
      rules,
    }),
    role: 'supervisor',
    prompt: ({ goal, workers, rules: kept }) =>
      `You lead a team of coding agents. Its goal: ${String(goal)}

Split the work into parts that stand alone. Give each to a worker with \`assign\` when it can run beside others, with \`handoff\` when you need its
answer to go on; name the files, what must not be touched, and how to tell that it is done. Check what comes back, and answer for the whole.${bullets('Your workers', workers)}${bullets('Rules', kept)}`,
  },
  'team/worker': {
    description: 'Does one kind of task, and reports what was done and how it was checked',
    config: z.strictObject({ ...common, task: line.describe('What it does'), rules }),
    role: 'developer',
    prompt: ({ task, rules: kept }) =>
      `You are a worker in a team of coding agents. Your task: ${String(task)}

Do what you are asked and nothing else. Run what you have changed. End your turn with a report for somebody who has not watched you: what was
done, in which files, how it was checked, what is open.${bullets('Rules', kept)}`,
  },
  'team/reviewer': {
    description: 'Reads and judges, changes nothing, and reports findings with their places',
    config: z.strictObject({ ...common, focus: lines.describe('What it looks for first'), rules }),
    role: 'reviewer',
    prompt: ({ focus, rules: kept }) =>
      `You are a reviewer in a team of coding agents. You read; you change nothing.

Report each finding with its file and line, what goes wrong, and how to see it. The worst first. Say what you have read and what not.${bullets('What to look for', focus)}${bullets('Rules', kept)}`,
  },
}

export const listTemplates = (): readonly { readonly name: string; readonly description: string }[] =>
  Object.entries(templates).map(([name, { description }]) => ({ name, description }))

/** JSON Schema of its config. Errors: NOT_FOUND. */
export function describeTemplate(name: string): Readonly<Record<string, unknown>> {
  return z.toJSONSchema(requireTemplate(name).config, { io: 'input' }) as Readonly<Record<string, unknown>>
}

/** What is wrong with the config, one sentence each. Errors: NOT_FOUND. */
export function checkTemplate(name: string, config: unknown): readonly string[] {
  const parsed = requireTemplate(name).config.safeParse(config)
  return parsed.success
    ? []
    : parsed.error.issues.map(({ path, message }) => `${path.map(String).join('.') || 'config'}: ${message}`)
}

/** The text of a profile. Errors: NOT_FOUND, BAD_REQUEST for a config that is not good. */
export function renderTemplate(name: string, config: unknown): string {
  const { config: schema, role, prompt } = requireTemplate(name)
  const faults = checkTemplate(name, config)
  if (faults.length > 0) throw new AppError('BAD_REQUEST', `the config of ${name} is not good: ${faults.join('; ')}`)
  const checked = schema.parse(config) as Readonly<Record<string, unknown>>
  const text = (field: string) => (typeof checked[field] === 'string' ? checked[field] : undefined)
  const tags = Array.isArray(checked['tags']) ? checked['tags'].map(String) : undefined
  const own = { name: text('name'), description: text('description'), role }
  return composeProfile({ ...own, provider: text('provider'), model: text('model'), tags }, prompt(checked))
}

function requireTemplate(name: string): Template {
  const found = Object.hasOwn(templates, name) ? templates[name] : undefined
  if (found !== undefined) return found
  const names = Object.keys(templates).join(', ')
  throw new AppError('NOT_FOUND', `Template not found: ${name}; there are ${names}`)
}

export const templateSummarySchema = z
  .object({ name: z.string(), description: z.string() })
  .meta({ id: 'ProfileTemplate' })
export type TemplateSummaryBody = z.infer<typeof templateSummarySchema>

const templateNameMax = 128
export const templateParams = z.object({
  template: z.string().min(1).max(templateNameMax),
  config: z.record(z.string().max(templateNameMax), z.unknown()).default({}),
})
export const templateCheckSchema = z
  .object({ valid: z.boolean(), errors: z.array(z.string()) })
  .meta({ id: 'ProfileTemplateCheck' })
export type TemplateCheckBody = z.infer<typeof templateCheckSchema>
export const templatePreviewSchema = z
  .object({ template: z.string(), content: z.string() })
  .meta({ id: 'ProfileTemplatePreview' })
export type TemplatePreviewBody = z.infer<typeof templatePreviewSchema>
