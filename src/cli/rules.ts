/** `cao rules`: what the screens of agents are read by: list it, try it on captures, and make a capture of a living agent. */
import { resolve } from 'node:path'
import { AppError } from '../domain/errors.ts'

import { cleanLine } from './clean-text.ts'
import type { Call, CliContext, Command } from './command.ts'
import { flagOption, numberOption, requireTerminalId, takePositionals, textOption } from './parse-call.ts'
import { printJson, printLine } from './print.ts'
import type { RuleListing, TriedScreen } from './screen-tools.ts'
import { formatTable } from './table.ts'

export const rulesCommand: Command = {
  usage: `cao rules [list] [--provider NAME] [--json]
       cao rules test --provider NAME [--title TEXT] [--alternate] [--cols N --rows N] [--json] FILE...
       cao rules record TERMINAL --out DIR [--name NAME]

  list             the rules of each provider, and the file of your own rules: used, or why not
  test             what the rules say of captured screens: status, reason, and the rule that told. No server is needed
  record           the screen of a living agent as files for test: DIR/NAME.ansi, .txt, .json; secrets are covered
  --provider NAME  whose rules
  --title TEXT     the title that the terminal had; else from the file beside it (NAME.json), else none
  --alternate      the program was on the alternate screen
  --cols, --rows   the size of the terminal; else from the file beside it, from its name (-80x24), or guessed
  --name NAME      of the recording; else the provider's name and the status
  --json           one JSON object a file: file, status, reason, rule`,
  options: {
    provider: { type: 'string' },
    title: { type: 'string' },
    alternate: { type: 'boolean' },
    cols: { type: 'string', isNumber: true },
    rows: { type: 'string', isNumber: true },
    out: { type: 'string' },
    name: { type: 'string' },
  },
  async run(call) {
    const [action = 'list', ...rest] = call.positionals
    switch (action) {
      case 'list':
        takePositionals(rest, [])
        return list(call)
      case 'test':
        return test(call, rest)
      case 'record':
        return record(call, rest)
      default:
        throw new AppError('BAD_REQUEST', `"${action}" is none of list, test, record`)
    }
  },
}

async function list({ options, context }: Call): Promise<number> {
  const tools = await context.openScreenTools()
  const listings = await tools.list(textOption(options, 'provider'))
  if (flagOption(options, 'json')) await printJson(context, listings)
  else for (const listing of listings) await printLine(context, formatListing(listing))
  return 0
}

function formatListing({ title, provider, path, file, faults, rules, regions }: RuleListing): string {
  const own = {
    absent: `your own rules: none (${path})`,
    used: `your own rules: ${path}`,
    faulty: `your own rules are NOT used: ${path}\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
  }[file]
  const head = `${title} (${provider})\n${own}`
  if (rules.length === 0) return `${head}\nits screen is read by code\n`
  const table = formatTable(
    [
      { title: 'PRIORITY', text: ({ priority }) => String(priority), align: 'right' },
      { title: 'RULE', text: ({ name }) => name },
      { title: 'REGION', text: ({ region }) => region },
      { title: 'SAYS', text: ({ says }) => says },
      { title: 'ORIGIN', text: ({ origin }) => origin, widthMax: 60 },
    ],
    rules,
  )
  return `${head}\nregions: ${regions.join(', ')}\n${table}\n`
}

async function test({ options, context }: Call, files: readonly string[]): Promise<number> {
  const provider = textOption(options, 'provider')
  if (provider === undefined) throw new AppError('BAD_REQUEST', '--provider is missing; --help shows the usage')
  if (files.length === 0) throw new AppError('BAD_REQUEST', 'FILE is missing; --help shows the usage')
  const title = textOption(options, 'title')
  const cols = numberOption(options, 'cols', { isWhole: true, above: 0, most: 10_000 })
  const rows = numberOption(options, 'rows', { isWhole: true, above: 0, most: 10_000 })
  const facts = {
    ...(title === undefined ? {} : { title }),
    ...(flagOption(options, 'alternate') ? { isAlternate: true } : {}),
    ...(cols === undefined ? {} : { cols }),
    ...(rows === undefined ? {} : { rows }),
  }
  const tools = await context.openScreenTools()
  const isJson = flagOption(options, 'json')
  for await (const tried of tools.try({ provider, files, facts })) await print(context, tried, isJson)
  return 0
}

async function print(context: CliContext, tried: TriedScreen, isJson: boolean): Promise<void> {
  const { file, status, reason, rule, region, text, origin, composer } = tried
  if (isJson) return printLine(context, JSON.stringify({ file, status, reason, rule }))
  const where = region === undefined ? '' : ` (${region}, ${origin ?? ''}): ${cleanLine(text ?? '').slice(0, 100)}`
  return printLine(context, `${cleanLine(file)}: ${status} (${reason}), composer ${composer}, rule ${rule}${where}`)
}

async function record({ options, context }: Call, words: readonly string[]): Promise<number> {
  const { TERMINAL = '' } = takePositionals(words, ['TERMINAL'])
  const id = requireTerminalId(TERMINAL)
  const out = textOption(options, 'out')
  if (out === undefined) throw new AppError('BAD_REQUEST', '--out is missing; --help shows the usage')
  const client = await context.openClient()
  const [screen, { status, status_reason }] = await Promise.all([
    client.captureScreen(id, { signal: context.signal }),
    client.getTerminal(id, { signal: context.signal }),
  ])
  const { readEnvFile } = await import('../home/env-file.ts')
  const tools = await context.openScreenTools()
  const paths = await tools.record({
    screen,
    dir: resolve(context.cwd, out),
    name: textOption(options, 'name') ?? `${screen.provider}-${status}-${status_reason}-${screen.cols}x${screen.rows}`,
    variables: { ...context.env, ...(await readEnvFile(context.layout.envFile)) },
  })
  if (flagOption(options, 'json')) await printJson(context, paths)
  else for (const path of paths) await printLine(context, path)
  return 0
}
