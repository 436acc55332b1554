/** A person's hands: raw text as one paste and one Enter, single keys, and the program's own way out. */
import { sleep, type Waiting } from '../async/wait.ts'
import { openDeliveryStates } from '../domain/delivery.ts'
import { AppError } from '../domain/errors.ts'
import type { TerminalId } from '../domain/ids.ts'
import type { Message } from '../domain/message.ts'
import type { Key } from '../providers/provider.ts'
import type { App, SendInput } from './app.ts'
import { type AppContext, requireRuntime } from './context.ts'
import { queueMessage } from './mailbox.ts'
import type { Runtime } from './runtime.ts'

const namedKeys = [
  'Up',
  'Down',
  'Left',
  'Right',
  'Enter',
  'Tab',
  'BTab',
  'Escape',
  'Space',
  'BSpace',
  'Home',
  'End',
  'PageUp',
  'PageDown',
]
const keyPattern = new RegExp(`^(?:[CMS]-)*(?:${namedKeys.join('|')}|F(?:[1-9]|1[0-2])|[A-Za-z0-9])$`)

/** Resolves when the message was taken, ended badly, or as it stands after the limit. */
export async function sendInput(
  context: AppContext,
  id: TerminalId,
  input: SendInput,
  waiting: Waiting,
): Promise<Message> {
  const runtime = requireRuntime(context, id)
  const isOrchestrated = input.orchestrationType !== undefined && input.orchestrationType !== 'send_message'
  if (isOrchestrated && runtime.state.status === 'waiting_user_answer') {
    throw new AppError('BLOCKED', `terminal ${id} waits for an answer: ${runtime.state.detail ?? ''}`)
  }
  const message = queueMessage(context, {
    kind: input.orchestrationType ?? 'input',
    senderId: input.senderId,
    receiverId: id,
    body: input.body,
    jobId: undefined,
    ...(input.author === undefined ? {} : { author: input.author }),
  })
  return awaitEnd(context, message, input.waitMs, waiting)
}

/** A command of the program itself: typed as it is, at rest, and no prompt. Resolves as `sendInput` does. */
export function sendCommand(
  context: AppContext,
  id: TerminalId,
  { body, senderId, waitMs }: SendInput,
  waiting: Waiting,
): Promise<Message> {
  requireRuntime(context, id)
  const message = queueMessage(context, { kind: 'command', senderId, receiverId: id, body, jobId: undefined })
  return awaitEnd(context, message, waitMs, waiting)
}

async function awaitEnd(context: AppContext, message: Message, waitMs: number, { signal }: Waiting): Promise<Message> {
  const isSettled = (now: Message) => !openDeliveryStates.includes(now.state)
  return (await context.ladder.wait(message.id, isSettled, waitMs, signal)) ?? message
}

/** Errors: BAD_REQUEST, BLOCKED. */
export async function pressKey(
  context: AppContext,
  id: TerminalId,
  { key, by }: Parameters<App['pressKey']>[1],
  waiting: Waiting,
): Promise<void> {
  if (!keyPattern.test(key)) {
    throw new AppError(
      'BAD_REQUEST',
      `${JSON.stringify(key)} is no key; use ${namedKeys.join(', ')}, F1 to F12, one letter or digit, with C-, M- or S- before it`,
    )
  }
  const runtime = requireRuntime(context, id)
  if (isInterrupt(key, runtime)) runtime.people.noteInterrupting(by)
  const stroke: Key = key.length === 1 ? { kind: 'text', text: key } : { kind: 'key', name: key }
  await press(runtime.press([stroke], waiting), id)
}

const isInterrupt = (key: string, { provider }: Runtime): boolean =>
  key === 'C-c' || provider.quirks.interrupt.some((stroke) => stroke.kind === 'key' && stroke.name === key)

/** For a program to end that was told to, before the keys count as lost. Units: ms. */
const exitLimitMs = 5_000
const exitTriesMax = 3

/** Presses the provider's way out, again where a busy program has lost the keys; the exit is seen like any other. */
export async function exitTerminal(context: AppContext, id: TerminalId, waiting: Waiting): Promise<void> {
  const runtime = requireRuntime(context, id)
  runtime.people.noteInterrupting('cao')
  for (let tries = 1; ; tries++) {
    for (const { keys, pauseMs } of runtime.provider.quirks.exit) {
      await press(runtime.press(keys as readonly Key[], waiting), id)
      await sleep(context.clock, pauseMs, waiting.signal)
    }
    if (tries === exitTriesMax || !(await isStillAtRest(context, runtime, waiting))) return
  }
}

/** Whether the program is there after the time for its end, and waits for input. */
async function isStillAtRest({ clock }: AppContext, runtime: Runtime, waiting: Waiting): Promise<boolean> {
  const ended = runtime.pane.exited.then(() => true)
  if (await Promise.race([ended, sleep(clock, exitLimitMs, waiting.signal).then(() => false)])) return false
  const seen = await runtime.watch.look(waiting)
  return seen !== 'gone' && seen.reading.claim?.kind === 'ready'
}

/** Interrupts what the agent is doing; nothing is pressed at one that rests, whose draft it could change. */
export async function interruptTurn(context: AppContext, id: TerminalId, waiting: Waiting, by = 'cao'): Promise<void> {
  const runtime = context.runtimes.get(id)
  const isAtWork = runtime?.state.status === 'processing' || runtime?.state.status === 'waiting_user_answer'
  if (runtime === undefined || !isAtWork) return
  runtime.people.noteInterrupting(by)
  await press(runtime.press(runtime.provider.quirks.interrupt, waiting), id)
}

async function press(
  pressed: Promise<{ readonly kind: string; readonly reason?: string }>,
  id: TerminalId,
): Promise<void> {
  const outcome = await pressed
  if (outcome.kind === 'refused')
    throw new AppError('BLOCKED', `terminal ${id} takes no input: ${outcome.reason ?? ''}`)
}
