/** `cao skills`: what agents can load. Listing asks the server, which knows all places; our own store is a folder of the home. */
import { isAbsolute, resolve } from 'node:path'
import { whileLocked } from '../home/file-lock.ts'
import { addSkill, removeSkill } from '../home/skill-store.ts'
import type { SkillSummaryBody } from '../protocol/skill.ts'
import { type Action, runAction } from './actions.ts'
import { cleanLine } from './clean-text.ts'
import type { Call, Command } from './command.ts'
import { flagOption, takePositionals } from './parse-call.ts'
import { prepareHome } from './prepare-home.ts'
import { printAgentText, printJson, printLine } from './print.ts'
import { requirePerson } from './require-person.ts'
import { type Column, formatTable } from './table.ts'

export const skillsCommand: Command = {
  usage: `cao skills list
       cao skills show NAME
       cao skills add DIR [--force]
       cao skills remove NAME

  list    all skills: of this home, of upstream's, of skills.extra_dirs, and the built-in ones
  show    the text of one, as an agent loads it
  add     copy a folder with a SKILL.md into this home; the folder's name is the skill's
  remove  take one out of this home

  --force  with add: in the place of one that is there
  --json   print it as JSON`,
  options: { force: { type: 'boolean' } },
  run: (call) => runAction(actions, call),
}

const actions: Readonly<Record<string, Action>> = { list, show, add, remove }

const columns: readonly Column<SkillSummaryBody>[] = [
  { title: 'SKILL', text: ({ name }) => name },
  { title: 'SOURCE', text: ({ source }) => source, widthMax: 40 },
  { title: 'DESCRIPTION', text: ({ description, error }) => error ?? description },
]

async function list({ options, positionals, context }: Call): Promise<void> {
  takePositionals(positionals, [])
  const client = await context.openClient()
  const skills = await client.listSkills({ signal: context.signal })
  if (flagOption(options, 'json')) return printJson(context, skills)
  const width = context.isTerminal.stdout ? context.columns : undefined
  await printLine(context, skills.length === 0 ? 'no skills' : formatTable(columns, skills, width))
}

async function show({ options, positionals, context }: Call): Promise<void> {
  const { NAME = '' } = takePositionals<'NAME'>(positionals, ['NAME'])
  const client = await context.openClient()
  const skill = await client.getSkill(NAME, { signal: context.signal })
  if (flagOption(options, 'json')) return printJson(context, skill)
  await printAgentText(context, skill.content)
}

async function add({ options, positionals, context }: Call): Promise<void> {
  const { DIR = '' } = takePositionals<'DIR'>(positionals, ['DIR'])
  requirePerson(context)
  const from = isAbsolute(DIR) ? DIR : resolve(context.cwd, DIR)
  await prepareHome(context.layout)
  const { name, description, dir } = await whileLocked(context, () =>
    addSkill(context.layout.skillsDir, from, flagOption(options, 'force')),
  )
  if (flagOption(options, 'json')) return printJson(context, { name, description, directory: dir })
  context.note(`added: ${name}, ${cleanLine(description)}`)
}

async function remove({ options, positionals, context }: Call): Promise<void> {
  const { NAME = '' } = takePositionals<'NAME'>(positionals, ['NAME'])
  requirePerson(context)
  await whileLocked(context, () => removeSkill(context.layout.skillsDir, NAME))
  if (flagOption(options, 'json')) await printJson(context, { name: NAME })
  else context.note(`removed: ${NAME}`)
}
