/** `cao worktree`: what agents left in worktrees of their own, the removal of one, and the set-up that a project names. */
import { isAbsolute, resolve } from 'node:path'
import { AppError } from '../domain/errors.ts'
import type { SetupBody, WorktreeBody } from '../protocol/worktree.ts'
import { type Action, runAction } from './actions.ts'
import { cleanLine, showExactly } from './clean-text.ts'
import type { Call, CliContext, Command } from './command.ts'
import { flagOption, requireTerminalId, takePositionals } from './parse-call.ts'
import { formatCommandLine, printJson, printLine } from './print.ts'
import { type Column, formatTable } from './table.ts'

export const worktreeCommand: Command = {
  usage: `cao worktree list
       cao worktree remove TERMINAL [--force]
       cao worktree trust [DIR] [--yes]
       cao worktree forbid [DIR]

  list     all worktrees, those that outlived their agent because they hold work included
  remove   removes the worktree of an ended agent and its branch, if nothing is lost by that
  trust    shows the set-up that the project of DIR names in .cao/worktree.json, and allows it as it stands now
  forbid   takes that permission back

  --force  with remove: also with the changes and commits that are only there
  --yes    with trust: do not ask
  --json   print it as JSON`,
  options: { force: { type: 'boolean' }, yes: { type: 'boolean' } },
  run: (call) => runAction(actions, call),
}

const actions: Readonly<Record<string, Action>> = { list, remove, trust, forbid }

const columns: readonly Column<WorktreeBody>[] = [
  { title: 'TERMINAL', text: ({ terminal_id }) => terminal_id },
  { title: 'PROFILE', text: ({ agent_profile }) => agent_profile, widthMax: 24 },
  { title: 'STATE', text: ({ state, used_by }) => (used_by.length > 0 ? 'in use' : state) },
  { title: 'CHANGED', text: ({ changed_files }) => formatCount(changed_files), align: 'right' },
  { title: 'AHEAD', text: ({ commits_ahead }) => formatCount(commits_ahead), align: 'right' },
  { title: 'BRANCH', text: ({ branch }) => branch },
  { title: 'PATH', text: ({ path }) => path },
]

const formatCount = (count: number | null): string => (count === null ? '?' : String(count))

async function list({ options, positionals, context }: Call): Promise<void> {
  takePositionals(positionals, [])
  const client = await context.openClient()
  const worktrees = await client.listWorktrees({}, { signal: context.signal })
  if (flagOption(options, 'json')) return printJson(context, worktrees)
  await printLine(context, worktrees.length === 0 ? 'no worktrees' : formatTable(columns, worktrees))
}

async function remove({ options, positionals, context }: Call): Promise<void> {
  const { TERMINAL = '' } = takePositionals<'TERMINAL'>(positionals, ['TERMINAL'])
  const id = requireTerminalId(TERMINAL)
  const client = await context.openClient()
  const answer = await client.removeWorktree(id, { force: flagOption(options, 'force') }, { signal: context.signal })
  if (flagOption(options, 'json')) return printJson(context, answer)
  await printLine(context, `the worktree of ${id} is removed`)
}

async function trust({ options, positionals, context }: Call): Promise<void> {
  const directory = findDirectory(positionals, context)
  const client = await context.openClient()
  const how = { signal: context.signal }
  const setup = await client.showWorktreeSetup(directory, how)
  if (setup.digest === null)
    throw new AppError('NOT_FOUND', `${setup.repository} names no set-up in .cao/worktree.json`)
  const isJson = flagOption(options, 'json')
  if (!isJson) await printLine(context, describe(setup))
  if (!flagOption(options, 'yes')) {
    if (!context.isTerminal.stdin) throw new AppError('BAD_REQUEST', 'nobody can be asked here; --yes allows it')
    const answer = await context.ask('Run it in every new worktree, with your rights? [y/N] ')
    if (!/^(y|yes)$/i.test(answer.trim())) throw new AppError('BAD_REQUEST', 'not allowed')
  }
  const allowed = await client.trustWorktreeSetup(directory, setup.digest, how)
  if (isJson) await printJson(context, allowed)
  else await printLine(context, 'it is allowed until the file changes')
}

async function forbid({ options, positionals, context }: Call): Promise<void> {
  const directory = findDirectory(positionals, context)
  const client = await context.openClient()
  const setup = await client.trustWorktreeSetup(directory, undefined, { signal: context.signal })
  if (flagOption(options, 'json')) return printJson(context, setup)
  await printLine(context, `no set-up of ${cleanLine(setup.repository)} is run`)
}

function findDirectory(positionals: readonly string[], context: CliContext): string {
  const { DIR = '.' } = takePositionals<'DIR'>(positionals, [], ['DIR'])
  return isAbsolute(DIR) ? DIR : resolve(context.cwd, DIR)
}

const describe = ({ file, argv, timeout_s }: SetupBody): string =>
  `${cleanLine(file ?? '')} runs, for at most ${timeout_s ?? 0} s:\n  ${showExactly(formatCommandLine(argv))}`
