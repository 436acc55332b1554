/** Tells the person: one notifier for each way to reach them, and whether what was noted is still so when it is told. */
import type { Scope } from '../async/scope.ts'
import type { Waiting } from '../async/wait.ts'
import type { TerminalId } from '../domain/ids.ts'
import type { Channel } from '../notify/channel.ts'
import { isStuck, isStuckText, type Notice, testPayload, type Who } from '../notify/notice.ts'
import { Notifier, type NotifierState, type NotifyRules } from '../notify/notifier.ts'
import type { TestedChannel } from './app.ts'
import type { AppContext } from './context.ts'

export type NotifyOptions = { readonly channels: readonly Channel[]; readonly rules: NotifyRules }

export class PersonNotices {
  readonly #context: AppContext
  readonly #options: NotifyOptions
  readonly #notifiers: readonly Notifier[]

  /** To be made before the recovery writes its first event, which may be news. */
  constructor(context: AppContext, options: NotifyOptions) {
    const { store, clock, log } = context
    this.#context = context
    this.#options = options
    this.#notifiers = options.channels.map(
      (channel) =>
        new Notifier({
          channel,
          rules: options.rules,
          store,
          clock,
          log,
          isDue: (notice) => isStillSo(context, notice),
          who: (notice) => findWho(context, notice.terminalId),
          onGivenUp: (name, count, why) => noteGivenUp(context, { channel: name, count, detail: why }),
        }),
    )
  }

  /** Once all agents are known again. */
  start(scope: Scope): void {
    for (const notifier of this.#notifiers) {
      scope.spawn(`notices by ${notifier.state.channel}`, async (signal) => {
        using _heard = this.#context.events.onEvent(notifier.note)
        await notifier.run(signal)
      })
    }
  }

  get rules(): NotifyRules {
    return this.#options.rules
  }

  get states(): readonly NotifierState[] {
    return this.#notifiers.map(({ state }) => state)
  }

  /** One try on each channel, also in quiet hours. */
  test(waiting: Waiting): Promise<readonly TestedChannel[]> {
    const payload = testPayload(this.#context.clock.nowMs())
    return Promise.all(
      this.#options.channels.map(async (channel) => ({
        channel: channel.name,
        outcome: await channel.tell(payload, waiting),
      })),
    )
  }
}

function isStillSo({ store, runtimes }: AppContext, notice: Notice): boolean {
  const { kind, terminalId } = notice
  const terminal = terminalId === undefined ? undefined : store.terminals.find(terminalId)
  switch (kind) {
    case 'question':
      return notice.questionId !== undefined && isOpen(store.questions.find(notice.questionId))
    case 'stuck':
      // A loop was stopped: that stays so.
      if (!isStuckText(notice.text)) return true
      return terminalId !== undefined && isStuck(runtimes.get(terminalId)?.state.reason ?? '')
    case 'ended':
      return terminal?.life === 'exited' && terminal.exit?.code !== 0
    case 'lost':
      return terminalId === undefined || terminal?.life === 'lost'
    case 'finished':
      // Whoever delegated hears of it by its job.
      return notice.jobId !== undefined && store.jobs.find(notice.jobId)?.callerId === undefined
    case 'worktree':
      return terminalId !== undefined && store.worktrees.find(terminalId)?.state === 'kept'
  }
}

const isOpen = (question: { readonly closedAtMs: number | undefined } | undefined): boolean =>
  question !== undefined && question.closedAtMs === undefined

function findWho({ store }: AppContext, id: TerminalId | undefined): Who | undefined {
  return id === undefined ? undefined : store.terminals.find(id)
}

type GivenUp = { readonly channel: string; readonly count: number; readonly detail: string }

function noteGivenUp({ events, clock, log }: AppContext, { channel, count, detail }: GivenUp): void {
  log.write('error', 'person not told, given up', { channel, count, why: detail })
  try {
    events.append({ type: 'notify.failed', channel, count, detail }, clock.nowMs())
  } catch (error) {
    log.write('warn', 'event not written', { error: String(error) })
  }
}
