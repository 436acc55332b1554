/** `cao send`: types a message into an agent, and says by what proof it arrived. */
import { sleep } from '../async/wait.ts'
import type { Client } from '../client/client.ts'
import { AppError } from '../domain/errors.ts'
import type { SentBody } from '../protocol/message.ts'
import { inputWaitMaxS } from '../protocol/version.ts'
import { cleanLine } from './clean-text.ts'
import type { CliContext, Command } from './command.ts'
import { flagOption, numberOption, requireTerminalId, takePositionals } from './parse-call.ts'
import { printJson, printLine } from './print.ts'

export const sendCommand: Command = {
  usage: `cao send TERMINAL MESSAGE|- [--timeout S] [--json]

  MESSAGE is typed as it is, in one paste, and submitted once. "-" reads it from stdin, to the last byte.
  The command waits until the agent has taken it. Exit code 0: taken; 9: refused, nothing was typed;
  12: typed, and whether the agent took it is not known.
  --timeout S  how long to wait (300)`,
  options: { timeout: { type: 'string', isNumber: true } },
  takesText: true,
  async run({ options, positionals, context }) {
    const { TERMINAL = '', MESSAGE: given = '' } = takePositionals(positionals, ['TERMINAL', 'MESSAGE'])
    const id = requireTerminalId(TERMINAL)
    const message = given === '-' ? await context.readStdin() : given
    if (message.trim() === '') throw new AppError('BAD_REQUEST', 'the message is empty; nothing was sent')
    const timeoutS = numberOption(options, 'timeout') ?? waitDefaultS
    const client = await context.openClient()
    const sent = await sendAndWait({ client, context, id, message, timeoutS }).catch((error: unknown) => {
      if (context.signal.aborted) context.note(`what was sent may still be typed; look with "cao explain ${id}"`)
      throw error
    })
    if (flagOption(options, 'json')) await printJson(context, sent)
    else if (sent.status === 'delivered') await printLine(context, formatSent(sent))
    if (sent.status === 'delivered') return 0
    throw describeDoubt(sent, { id, hold: await findHold(client, sent, id) })
  },
}

/** Units: s. */
const waitDefaultS = 300
const pollMs = 250
/** States that pass by themselves. */
const openStates: readonly SentBody['state'][] = ['queued', 'leased', 'typing', 'typed']

type Sending = {
  readonly client: Client
  readonly context: CliContext
  readonly id: string
  readonly message: string
  readonly timeoutS: number
}

/** The message when it has come to rest, or as it stands when the time is over. */
async function sendAndWait({ client, context, id, message, timeoutS }: Sending): Promise<SentBody> {
  const { clock, signal } = context
  const endMs = clock.monotonicMs() + timeoutS * 1_000
  let sent = await client.sendInput(
    id,
    { message, sender_id: 'user', wait_s: Math.min(timeoutS, inputWaitMaxS) },
    { signal },
  )
  while (openStates.includes(sent.state) && clock.monotonicMs() < endMs) {
    await sleep(clock, pollMs, signal)
    const { status, state, detail } = await client.getMessage(sent.message_id, { signal })
    sent = { ...sent, status, state, detail }
  }
  return sent
}

/** What keeps a waiting message from being typed. */
async function findHold(client: Client, sent: SentBody, id: string): Promise<string | undefined> {
  if (sent.state !== 'queued') return undefined
  const { facts } = await client.explain(id)
  return facts['hold'] === 'none' ? undefined : facts['hold']
}

export function formatSent({ message_id, state, detail }: SentBody): string {
  return `message ${message_id} ${state}${detail === null || detail === '' ? '' : ` (${cleanLine(detail)})`}`
}

function describeDoubt(
  sent: SentBody,
  { id, hold }: { readonly id: string; readonly hold: string | undefined },
): AppError {
  const look = `look with "cao output ${id} --mode screen" and "cao explain ${id}"`
  if (sent.status === 'failed') return new AppError('BLOCKED', `${formatSent(sent)}; ${look}`)
  const wasTyped = sent.state === 'typed' || sent.state === 'unconfirmed'
  const known = wasTyped
    ? 'it was typed, and nothing proves yet that the agent took it'
    : `it waits and will be typed later${hold === undefined ? '' : `, since ${cleanLine(hold)}`}`
  return new AppError('TIMEOUT', `${formatSent(sent)}: ${known}; ${look} before you send it again`)
}
