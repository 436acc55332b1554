/** `cao purge`: forgets what ended long ago. */
import { AppError } from '../domain/errors.ts'
import type { PurgedBody } from '../protocol/purge.ts'
import type { Command } from './command.ts'
import { flagOption, takePositionals, textOption } from './parse-call.ts'
import { printJson, printLine } from './print.ts'

export const purgeCommand: Command = {
  usage: `cao purge [--older-than AGE] [--dry-run] [--json]

  Forgets agents that exited or were lost, and messages, jobs, questions and events of agents that are gone, when that is
  longer ago than AGE. What lives, waits or is open stays. The server does the same by itself once an hour.
  --older-than AGE  such as 30d, 12h or 90m (retention.days of "cao config" when it is not said)
  --dry-run         only say what would be forgotten`,
  options: { 'older-than': { type: 'string' }, 'dry-run': { type: 'boolean' } },
  async run({ options, positionals, context }) {
    takePositionals(positionals, [])
    const age = textOption(options, 'older-than')
    const isDryRun = flagOption(options, 'dry-run')
    const params = { ...(age === undefined ? {} : { older_than_s: parseAge(age) }), dry_run: isDryRun }
    const client = await context.openClient()
    const purged = await client.purge(params, { signal: context.signal })
    if (flagOption(options, 'json')) await printJson(context, purged)
    else await printLine(context, `${isDryRun ? 'would be forgotten' : 'forgotten'}: ${formatPurged(purged)}`)
    return 0
  },
}

const unitSeconds: Readonly<Record<string, number>> = { m: 60, h: 3_600, d: 86_400 }

/** Units: s. Errors: BAD_REQUEST. Pure. */
export function parseAge(text: string): number {
  const [, count, unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? []
  if (count === undefined)
    throw new AppError('BAD_REQUEST', `--older-than takes a number and m, h or d, such as 30d, and not "${text}"`)
  return Number(count) * (unitSeconds[unit] ?? 0)
}

function formatPurged({ ended, ...rows }: PurgedBody): string {
  const parts = Object.entries(rows).flatMap(([what, count]) => (count === 0 ? [] : [`${count} rows of ${what}`]))
  const agents = ended.length === 0 ? [] : [`the ended agents ${ended.join(' ')}`]
  const all = [...agents, ...parts]
  return all.length === 0 ? 'nothing is that old' : all.join(', ')
}
