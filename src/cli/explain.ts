/** `cao explain`: everything CAO knows about one agent, and why it says what it says. */
import type { ExplainBody } from '../protocol/explain.ts'
import { cleanLine, cleanText } from './clean-text.ts'
import type { Command } from './command.ts'
import { formatAge, formatClockTime } from './format-time.ts'
import { flagOption, requireTerminalId, takePositionals } from './parse-call.ts'
import { printJson, printLine } from './print.ts'
import { formatFacts, formatTable } from './table.ts'

export const explainCommand: Command = {
  usage: `cao explain TERMINAL [--json]

  Its status with reason and evidence, what its screen says by which rule, and where each open message and question stands.`,
  options: {},
  async run({ options, positionals, context }) {
    const { TERMINAL = '' } = takePositionals(positionals, ['TERMINAL'])
    const id = requireTerminalId(TERMINAL)
    const client = await context.openClient()
    const explained = await client.explain(id, { signal: context.signal })
    if (flagOption(options, 'json')) await printJson(context, explained)
    else await printLine(context, formatExplanation(explained, context.clock.nowMs()))
    return 0
  },
}

export function formatExplanation(explained: ExplainBody, nowMs: number): string {
  const sections: readonly (readonly [string, string])[] = [
    ['', formatFacts(summarize(explained, nowMs))],
    ['Evidence, oldest first', formatTrail(explained)],
    ['Sources, best first', formatSources(explained)],
    ['Screen', formatScreen(explained)],
    ['Open messages', formatMessages(explained, nowMs)],
    ['Open questions', formatQuestions(explained)],
    ['Facts', formatFacts(Object.entries(explained.facts).map(([name, value]) => [name, cleanLine(value)]))],
  ]
  return sections
    .filter(([, text]) => text !== '')
    .map(([title, text]) => (title === '' ? text : `${title}\n${indent(text)}`))
    .join('\n\n')
}

function summarize({ terminal }: ExplainBody, nowMs: number): readonly (readonly [string, string])[] {
  const { status, status_reason, status_since, status_detail, status_until, status_evidence } = terminal
  const exit = terminal.exit_signal ?? (terminal.exit_code === null ? undefined : `code ${terminal.exit_code}`)
  const facts: readonly (readonly [string, string | null | undefined])[] = [
    ['terminal', `${terminal.id} (${terminal.name})`],
    ['session', terminal.session_name],
    ['agent', `${terminal.agent_profile}, ${terminal.provider} (${terminal.program})`],
    ['directory', terminal.working_directory],
    ['status', `${status} (${status_reason}) for ${formatAge(nowMs - Date.parse(status_since))}`],
    ['detail', status_detail],
    ['until', status_until === null ? undefined : formatClockTime(Date.parse(status_until))],
    ['because', status_evidence],
    ['life', terminal.life],
    ['exit', exit],
    ['lost', terminal.lost_reason],
    ['waiting', terminal.queue_length === 0 ? undefined : `${terminal.queue_length} messages`],
  ]
  return facts.flatMap(([name, value]) => (value === null || value === undefined ? [] : [[name, cleanLine(value)]]))
}

function formatTrail({ trail }: ExplainBody): string {
  if (trail.length === 0) return 'none yet'
  return formatTable(
    [
      { title: 'AT', text: ({ at }) => formatClockTime(Date.parse(at)) },
      { title: 'SOURCE', text: ({ source }) => source },
      { title: 'CLAIM', text: ({ claim }) => claim, widthMax: 32 },
      { title: 'EFFECT', text: ({ effect }) => effect },
      { title: 'WHY', text: ({ why }) => why, widthMax: 60 },
      { title: 'WHERE', text: ({ raw }) => raw, widthMax: 60 },
    ],
    trail,
  )
}

function formatSources({ sources }: ExplainBody): string {
  if (sources.length === 0) return 'none yet'
  return formatTable(
    [
      { title: 'RANK', text: ({ rank }) => String(rank), align: 'right' },
      { title: 'SOURCE', text: ({ source }) => source },
      { title: 'SPOKEN', text: ({ has_spoken }) => (has_spoken ? 'yes' : 'no') },
      { title: 'HOLDS OPEN', text: ({ holds }) => holds.join(', ') || '-' },
      { title: 'ANNOUNCES', text: ({ announces }) => announces.join(', ') || 'nothing: its silence says nothing' },
    ],
    sources,
  )
}

function formatScreen({ screen }: ExplainBody): string {
  if (screen === null) return 'not read'
  const shown = screen.lines.map((line) => `| ${cleanText(line)}`.trimEnd()).join('\n')
  const { rule, region, region_text, says, rule_origin, composer, composer_text } = screen
  const facts: readonly (readonly [string, string | null])[] = [
    ['rule', rule],
    ['says', says],
    ['region', region === null ? null : `${region}: ${(region_text ?? '').trim()}`],
    ['from', rule_origin ?? (region === null ? null : 'built in')],
    ['composer', composer_text === null ? composer : `${composer}: ${composer_text}`],
  ]
  const told = facts.flatMap(([name, value]) => (value === null ? [] : [[name, cleanLine(value)] as const]))
  return `${formatFacts(told)}\n${shown}`
}

function formatMessages({ open_messages }: ExplainBody, nowMs: number): string {
  if (open_messages.length === 0) return 'none'
  return formatTable(
    [
      { title: 'MESSAGE', text: ({ id }) => String(id) },
      { title: 'KIND', text: ({ orchestration_type }) => orchestration_type },
      { title: 'FROM', text: ({ sender_id }) => sender_id, widthMax: 20 },
      { title: 'STATE', text: ({ state }) => state },
      { title: 'TRIES', text: ({ attempts }) => String(attempts), align: 'right' },
      { title: 'AGE', text: ({ created_at }) => formatAge(nowMs - Date.parse(created_at)), align: 'right' },
      { title: 'DETAIL', text: ({ detail }) => detail ?? '', widthMax: 60 },
      { title: 'TEXT', text: ({ message }) => message, widthMax: 40 },
    ],
    open_messages,
  )
}

function formatQuestions({ open_questions }: ExplainBody): string {
  if (open_questions.length === 0) return 'none'
  return open_questions
    .map(({ id, reason, text, options }) => {
      const choices = options.map((option, index) => `\n  ${index + 1}. ${cleanLine(option)}`).join('')
      return `${id} (${reason}): ${cleanLine(text)}${choices}`
    })
    .join('\n')
}

const indent = (text: string): string => text.replace(/^(?=.)/gm, '  ')
