/** `cao audit`: who changed what, and who was refused at the doors. Read from the log itself, so that it works without a server. */
import { readFile } from 'node:fs/promises'
import type { Command } from './command.ts'
import { flagOption, numberOption, takePositionals } from './parse-call.ts'
import { printJson, printLine } from './print.ts'
import { type Column, formatTable } from './table.ts'

const defaultLimit = 50

type Entry = Readonly<Record<string, unknown>>

const field = (entry: Entry, name: string): string => {
  const value = entry[name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

const columns: readonly Column<Entry>[] = [
  { title: 'AT', text: (entry) => field(entry, 'at') },
  { title: 'WHO', text: (entry) => `${field(entry, 'actor')} ${field(entry, 'terminal')}` },
  { title: 'DOOR', text: (entry) => field(entry, 'door') },
  { title: 'WHAT', text: (entry) => `${field(entry, 'method')} ${field(entry, 'route')}`, widthMax: 60 },
  { title: 'TARGET', text: (entry) => field(entry, 'target'), widthMax: 40 },
  { title: 'OUTCOME', text: (entry) => `${field(entry, 'status')} ${field(entry, 'code')}` },
]

export const auditCommand: Command = {
  usage: `cao audit [--refused] [--limit N] [--json]

  Who changed what, and who was refused: the newest last. Never what was said or typed.
  --refused  only what was answered with an error
  --limit N  as many lines at most (default ${defaultLimit})`,
  options: { refused: { type: 'boolean' }, limit: { type: 'string', isNumber: true } },
  async run({ options, positionals, context }) {
    takePositionals(positionals, [])
    const limit = numberOption(options, 'limit', { isWhole: true, above: 0 }) ?? defaultLimit
    const { auditFile } = context.layout
    const texts = await Promise.all([auditFile.replace(/\.jsonl$/, '.1.jsonl'), auditFile].map(readIfThere))
    const entries = parseAudit(texts.join(''))
    const wanted = flagOption(options, 'refused') ? entries.filter((entry) => Number(entry['status']) >= 400) : entries
    const shown = wanted.slice(-limit)
    if (flagOption(options, 'json')) await printJson(context, shown)
    else if (shown.length === 0) await printLine(context, 'nothing is recorded')
    else await printLine(context, formatTable(columns, shown))
    return 0
  },
}

/** The lines that are whole: a crash may have cut the last one. Pure. */
export function parseAudit(text: string): readonly Entry[] {
  return text.split('\n').flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line)
      return typeof value === 'object' && value !== null ? [value as Entry] : []
    } catch (error) {
      if (error instanceof SyntaxError) return []
      throw error
    }
  })
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
}
