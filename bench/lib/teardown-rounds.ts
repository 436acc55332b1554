/**
 * Mass teardown as it once took every agent with it: ten sessions are ended at once, by several callers each, while ten
 * others are created, round after round. Other agents count meanwhile; whoever calls looks at them after each round.
 */
import type { Client } from '../../src/client/client.ts'
import { AppError } from '../../src/domain/errors.ts'

export type RoundsOptions = {
  readonly client: Client
  readonly cwd: string
  readonly rounds: number
  readonly sessions: number
  /** No round begins later than this, by `isOver`. */
  readonly isOver?: () => boolean
  readonly afterRound: (round: number) => Promise<void>
}

export type RoundsOutcome = {
  readonly rounds: number
  readonly created: number
  readonly deleted: number
  /** Creations and deletions that failed, each with its reason. */
  readonly failures: readonly string[]
}

type Made = { readonly id: string; readonly session: string }

/** Runs the rounds; ends what is left of them. Errors: what `afterRound` throws. */
export async function runTeardownRounds(options: RoundsOptions): Promise<RoundsOutcome> {
  const { client, sessions } = options
  const failures: string[] = []
  let created = 0
  let deleted = 0
  const create = async (): Promise<Made[]> => {
    const made = await Promise.allSettled(Array.from({ length: sessions }, () => createOne(options)))
    for (const each of made) if (each.status === 'rejected') failures.push(`create: ${String(each.reason)}`)
    created += made.filter((each) => each.status === 'fulfilled').length
    return made.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  }
  const end = async (all: readonly Made[], round: number): Promise<void> => {
    const ended = await Promise.allSettled(all.map((each) => endOne(client, each, round)))
    for (const each of ended) if (each.status === 'rejected') failures.push(`delete: ${String(each.reason)}`)
    deleted += ended.filter((each) => each.status === 'fulfilled').length
  }
  let standing = await create()
  let round = 0
  for (; round < options.rounds && options.isOver?.() !== true; round++) {
    const [next] = await Promise.all([create(), end(standing, round)])
    standing = next
    await options.afterRound(round)
  }
  await end(standing, 0)
  return { rounds: round, created, deleted, failures }
}

async function createOne({ client, cwd }: RoundsOptions): Promise<Made> {
  const made = await client.createSession({
    agent_profile: 'developer',
    provider: 'scripted',
    working_directory: cwd,
  })
  return { id: made.id, session: made.session_name }
}

/** Every way to end an agent, in turn; always by three callers at once, of whom none may fail but for "it is gone". */
async function endOne(client: Client, { id, session }: Made, round: number): Promise<void> {
  const way = (Number.parseInt(id.slice(-2), 16) + round) % 3
  // Half of the time it is just ending by itself.
  if (way === 0) await client.sendMessage(id, { message: 'crash 3', sender_id: 'user' })
  const calls = Array.from({ length: 3 }, (_, index) =>
    way === 1 || index === 0 ? client.deleteSession(session) : client.deleteTerminal(id),
  )
  for (const call of await Promise.allSettled(calls)) {
    if (call.status === 'rejected' && !(call.reason instanceof AppError && call.reason.code === 'NOT_FOUND')) {
      throw call.reason
    }
    if (call.status === 'fulfilled' && !call.value.success) throw new Error(JSON.stringify(call.value))
  }
}
