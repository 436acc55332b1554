/** What `cao ls` shows of a terminal: one line per column here. Pure. */
import type { TerminalBody } from '../protocol/terminal.ts'
import { formatAge } from './format-time.ts'
import { type Column, formatTable } from './table.ts'

type Row = { readonly terminal: TerminalBody; readonly nowMs: number }

export const terminalColumns: readonly Column<Row>[] = [
  { title: 'TERMINAL', text: ({ terminal }) => terminal.id },
  { title: 'SESSION', text: ({ terminal }) => terminal.session_name, widthMax: 24 },
  { title: 'PROFILE', text: ({ terminal }) => terminal.agent_profile, widthMax: 24 },
  { title: 'PROVIDER', text: ({ terminal }) => terminal.provider },
  { title: 'STATUS', text: ({ terminal }) => terminal.status },
  { title: 'REASON', text: ({ terminal }) => formatReason(terminal), widthMax: 48 },
  {
    title: 'SINCE',
    text: ({ terminal, nowMs }) => formatAge(nowMs - Date.parse(terminal.status_since)),
    align: 'right',
  },
  { title: 'QUEUE', text: ({ terminal }) => String(terminal.queue_length), align: 'right' },
]

/** The reason, and where a person has to know more to act, the detail. */
function formatReason({ status, status_reason, status_detail }: TerminalBody): string {
  const needsDetail = status === 'waiting_user_answer' || status === 'error'
  return needsDetail && status_detail !== null && status_detail !== ''
    ? `${status_reason}: ${status_detail}`
    : status_reason
}

export function formatTerminals(terminals: readonly TerminalBody[], nowMs: number, columnsMax?: number): string {
  if (terminals.length === 0) return 'no agents; start one with "cao launch --agents NAME"'
  return formatTable(
    terminalColumns,
    terminals.map((terminal) => ({ terminal, nowMs })),
    columnsMax,
  )
}
