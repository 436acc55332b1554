/** `cao events`: what has happened, one line each; with `--follow` it goes on. */
import type { Client } from '../client/client.ts'
import type { EventBody } from '../protocol/event.ts'
import type { CliContext, Command } from './command.ts'
import { formatEvent } from './format-event.ts'
import { formatClockTime } from './format-time.ts'
import { flagOption, numberOption, takePositionals } from './parse-call.ts'
import { printLine } from './print.ts'

/** As many as the server gives at once. */
const pageLength = 500

export const eventsCommand: Command = {
  usage: `cao events [--follow] [--after N] [--json]

  --follow   go on with what happens from now (or after N); a server that restarts is waited for
  --after N  begin after the event with this number
  --json     one JSON object a line`,
  options: { follow: { type: 'boolean' }, after: { type: 'string', isNumber: true } },
  async run({ options, positionals, context }) {
    takePositionals(positionals, [])
    const after = numberOption(options, 'after', { isWhole: true })
    const client = await context.openClient()
    const print = (event: EventBody) =>
      printLine(context, flagOption(options, 'json') ? JSON.stringify(event) : formatEventLine(event))
    if (flagOption(options, 'follow')) await follow(client, { context, after, print })
    else await list(client, { context, after, print })
    return 0
  },
}

type Printing = {
  readonly context: CliContext
  readonly after: number | undefined
  readonly print: (event: EventBody) => Promise<void>
}

async function list(client: Client, { context, after, print }: Printing): Promise<void> {
  let next = after
  for (;;) {
    const query = { limit: pageLength, ...(next === undefined ? {} : { after: next }) }
    const { events, gap, last_seq } = await client.listEvents(query, { signal: context.signal })
    if (gap && next !== undefined) context.note(describeGap(next, last_seq))
    for (const event of events) await print(event)
    const last = events.at(-1)?.seq
    if (next === undefined || last === undefined || events.length < pageLength) return
    next = last
  }
}

async function follow(client: Client, { context, after, print }: Printing): Promise<void> {
  const frames = client.streamEvents({
    ...(after === undefined ? {} : { after }),
    signal: context.signal,
    onConnection: (state) => {
      if (state === 'lost') context.note('the server is away; waiting for it …')
    },
  })
  for await (const frame of frames) {
    if (frame.kind === 'event') await print(frame.event)
    else if (frame.kind === 'gap') context.note(describeGap(frame.after, frame.seq))
  }
}

/** Why what was asked for is not there: it has been, or it never was. */
export function describeGap(after: number, lastSeq: number): string {
  if (after > lastSeq) return `there is no event ${after}: the last one is ${lastSeq}`
  return `events ${after + 1} to ${lastSeq} are not all kept any more; "cao events" prints the newest`
}

export function formatEventLine(event: EventBody): string {
  return `${formatClockTime(Date.parse(event.at))}  ${String(event.seq).padStart(5)}  ${formatEvent(event)}`
}
