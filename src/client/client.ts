/**
 * What a front end can ask of a CAO server, one method per route. Answers are trusted to have the shape that the
 * protocol's types say: both ends come from one checkout, and checking every field would cost a command line its start.
 *
 * `transport.ts` is the road, `event-stream.ts` the endless one; the files `…-calls.ts` name the routes.
 */
import type { Clock } from '../async/clock.ts'
import { systemClock } from '../async/clock-system.ts'
import type { FindingBody } from '../protocol/doctor.ts'
import type { EventHistoryBody, StreamFrame } from '../protocol/event.ts'
import type { HealthBody } from '../protocol/health.ts'
import { paths } from '../protocol/paths.ts'
import type { ProviderBody } from '../protocol/profile.ts'
import { type CallOptions, createVerbs } from './ask.ts'
import { type StreamOptions, streamEvents } from './event-stream.ts'
import { notifyCalls } from './notify-calls.ts'
import { profileCalls } from './profile-calls.ts'
import { settingsCalls } from './settings-calls.ts'
import { skillCalls } from './skill-calls.ts'
import { terminalCalls } from './terminal-calls.ts'
import { createTransport, type Target } from './transport.ts'
import { workCalls } from './work-calls.ts'
import { worktreeCalls } from './worktree-calls.ts'

export type { CallOptions } from './ask.ts'
export type { Target } from './transport.ts'

export type ClientOptions = {
  /** Token of an agent, which then acts only as itself. */
  readonly capability?: string | undefined
  readonly clock?: Clock
}
export type Client = ReturnType<typeof createClient>

/** No connection is made before the first call; nothing has to be closed. Errors of every method: AppError. */
export function createClient(target: Target, options: ClientOptions = {}) {
  const clock = options.clock ?? systemClock
  const transport = createTransport(target, options.capability, clock)
  const verbs = createVerbs(transport)
  const { get } = verbs
  return {
    ...terminalCalls(verbs),
    ...workCalls(verbs),
    ...profileCalls(verbs),
    ...skillCalls(verbs),
    ...worktreeCalls(verbs),
    ...notifyCalls(verbs),
    ...settingsCalls(verbs),
    health: (how?: CallOptions) => get<HealthBody>(paths.health(), {}, how),
    /** The description of the interface, for programs. */
    getOpenApi: (how?: CallOptions) => get<Readonly<Record<string, unknown>>>(paths.openApi(), {}, how),
    /** Errors: always NOT_FOUND with this server; another one may have an identity provider. */
    getOAuthMetadata: (how?: CallOptions) => get<Readonly<Record<string, unknown>>>(paths.oauthMetadata(), {}, how),
    doctor: (how?: CallOptions) => get<readonly FindingBody[]>(paths.doctor(), {}, how),
    listProviders: (how?: CallOptions) => get<readonly ProviderBody[]>(paths.providers(), {}, how),
    listEvents: (query: { after?: number; limit?: number } = {}, how?: CallOptions) =>
      get<EventHistoryBody>(paths.eventHistory(), { query }, how),
    streamEvents: (how: StreamOptions = {}): AsyncGenerator<StreamFrame, void> => streamEvents(transport, clock, how),
  }
}
