/**
 * `cao doctor --repair-store`: the database is mended while no server runs; then the server is started, finds the agents that
 * the database knows, and takes in those that it does not.
 */
import type { AdoptedBody } from '../protocol/recover.ts'
import type { StoreRepair } from '../protocol/store-repair.ts'
import type { CliContext } from './command.ts'
import { printJson, printLine } from './print.ts'
import { formatAdopted } from './recover.ts'
import { requirePerson } from './require-person.ts'

/** The exit code. Errors: CONFLICT while a server runs, STORE_NEWER, SERVER_UNREACHABLE. */
export async function repairStore(context: CliContext, isJson: boolean): Promise<number> {
  requirePerson(context)
  const repair = await context.repairStore()
  if (!isJson) await printLine(context, formatRepair(repair).join('\n'))
  const agents = repair.kind === 'whole' ? undefined : await (await context.openClient()).adopt()
  if (isJson) await printJson(context, { ...repair, agents: agents ?? null })
  else if (agents !== undefined) await printLine(context, formatAgents(agents))
  return 0
}

function formatAgents(agents: AdoptedBody): string {
  return agents.adopted.length + agents.errors.length === 0
    ? 'no agent runs that the database does not know'
    : formatAdopted(agents)
}

/** Pure. */
export function formatRepair(repair: StoreRepair): readonly string[] {
  if (repair.kind === 'whole') return ['the database is whole; nothing was changed']
  const { broken } = repair
  const aside = broken === null ? 'there was no database' : `the damaged database is kept: ${broken}`
  if (repair.kind === 'emptied') return [aside, 'there is no good copy: an empty one stands in its place']
  const { from, taken_at, closed_messages, closed_jobs } = repair
  return [
    aside,
    `in its place stands the copy of ${taken_at}: ${from}`,
    `lost is what came after it; ${closed_messages} messages and ${closed_jobs} jobs that were open in it are closed, since their end is not known`,
  ]
}
