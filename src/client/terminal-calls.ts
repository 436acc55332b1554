/** What can be asked about sessions and terminals. */
import type { CaptureBody, ExplainBody } from '../protocol/explain.ts'
import type { SentBody } from '../protocol/message.ts'
import type { OutputBody, OutputRangeBody } from '../protocol/output.ts'
import { paths } from '../protocol/paths.ts'
import type { PurgedBody, PurgeParams } from '../protocol/purge.ts'
import type { AdoptedBody, RecoveredBody, RecoverParams } from '../protocol/recover.ts'
import type { DeletedBody, SessionBody, SessionDetailBody } from '../protocol/session.ts'
import type {
  AttachBody,
  CreateSessionParams,
  CreateTerminalParams,
  EndedBody,
  SiblingBody,
  SuccessBody,
  TerminalBody,
  WorkingDirectoryBody,
} from '../protocol/terminal.ts'
import type { CallOptions, Extra, Verbs } from './ask.ts'

export function terminalCalls({ get, patch, post, slowDelete, slowGet, slowPost }: Verbs) {
  return {
    createSession: (params: CreateSessionParams, how?: CallOptions) =>
      slowPost<TerminalBody>(paths.sessions(), splitCreation(params), how),
    listSessions: (how?: CallOptions) => get<readonly SessionBody[]>(paths.sessions(), {}, how),
    getSession: (name: string, how?: CallOptions) => get<SessionDetailBody>(paths.session(name), {}, how),
    deleteSession: (name: string, how?: CallOptions) => slowDelete<DeletedBody>(paths.session(name), {}, how),
    shutdownAll: (how?: CallOptions) => slowPost<DeletedBody>(paths.shutdownAll(), {}, how),

    createTerminal: (sessionName: string, params: CreateTerminalParams, how?: CallOptions) =>
      slowPost<TerminalBody>(paths.sessionTerminals(sessionName), splitCreation(params), how),
    /** Of all sessions, or of the one named. */
    listTerminals: (sessionName?: string, how?: CallOptions) =>
      get<readonly TerminalBody[]>(
        sessionName === undefined ? paths.terminals() : paths.sessionTerminals(sessionName),
        {},
        how,
      ),
    getTerminal: (id: string, how?: CallOptions) => get<TerminalBody>(paths.terminal(id), {}, how),
    deleteTerminal: (id: string, how?: CallOptions) => slowDelete<EndedBody>(paths.terminal(id), {}, how),
    recoverTerminal: (id: string, params: RecoverParams, how?: CallOptions) =>
      slowPost<TerminalBody>(paths.recover(id), { body: params }, how),
    purge: (params: PurgeParams, how?: CallOptions) => slowPost<PurgedBody>(paths.purge(), { body: params }, how),
    adopt: (how?: CallOptions) => slowPost<AdoptedBody>(paths.adopt(), {}, how),
    recoverAll: (params: RecoverParams, how?: CallOptions) =>
      slowPost<RecoveredBody>(paths.recoverAll(), { body: params }, how),
    getWorkingDirectory: (id: string, how?: CallOptions) =>
      get<WorkingDirectoryBody>(paths.workingDirectory(id), {}, how),
    listSiblings: (id: string, query: { depth?: number; cross_session?: boolean } = {}, how?: CallOptions) =>
      get<readonly SiblingBody[]>(paths.terminalSiblings(id), { query }, how),
    setGroup: (id: string, group: readonly string[] | null, how?: CallOptions) =>
      patch<TerminalBody>(paths.terminalGroup(id), { body: { group } }, how),
    setMetadata: (id: string, metadata: Readonly<Record<string, unknown>> | null, how?: CallOptions) =>
      patch<TerminalBody>(paths.terminalMetadata(id), { body: { metadata } }, how),
    /** Types a message and answers once it is delivered or refused. */
    sendInput: (
      id: string,
      params: {
        message: string
        sender_id?: string
        orchestration_type?: 'send_message' | 'handoff' | 'assign'
        wait_s?: number
      },
      how?: CallOptions,
    ) => slowPost<SentBody>(paths.input(id), { body: params }, how),
    holdQueue: (id: string, why?: string, how?: CallOptions) =>
      post<TerminalBody>(paths.hold(id), { body: why === undefined ? {} : { why } }, how),
    releaseQueue: (id: string, how?: CallOptions) => post<TerminalBody>(paths.release(id), {}, how),
    /** Gives the agent's own program a command, and answers once it was taken or refused. */
    sendCommand: (id: string, params: { command: string; wait_s?: number }, how?: CallOptions) =>
      slowPost<SentBody>(paths.command(id), { body: params }, how),
    pressKey: (id: string, key: string, how?: CallOptions) => post<SuccessBody>(paths.key(id), { body: { key } }, how),
    exitTerminal: (id: string, how?: CallOptions) => slowPost<SuccessBody>(paths.exit(id), {}, how),
    readOutput: (id: string, mode: 'full' | 'last' | 'screen', how?: CallOptions) =>
      slowGet<OutputBody>(paths.output(id), { query: { mode } }, how),
    readOutputRange: (id: string, range: { offset: number; length?: number }, how?: CallOptions) =>
      get<OutputRangeBody>(paths.outputRange(id), { query: range }, how),
    explain: (id: string, how?: CallOptions) => get<ExplainBody>(paths.explain(id), {}, how),
    captureScreen: (id: string, how?: CallOptions) => slowGet<CaptureBody>(paths.capture(id), {}, how),
    attachArgv: (id: string, how?: CallOptions) => get<AttachBody>(paths.attach(id), {}, how),
  }
}

const bodyFields = new Set([
  'env_vars',
  'group',
  'metadata',
  'initial_message',
  'initial_message_orchestration_type',
  'initial_message_sender_id',
  'client_env',
])

/** Upstream puts routing into the query and secrets and long texts into the body. */
function splitCreation(params: CreateTerminalParams): Extra {
  const entries = Object.entries(params).filter(([, value]) => value !== undefined && value !== null)
  const body = entries.filter(([name]) => bodyFields.has(name))
  const query = entries.filter(([name]) => !bodyFields.has(name))
  return {
    query: Object.fromEntries(
      query.map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : String(value as string | boolean)]),
    ),
    ...(body.length === 0 ? {} : { body: Object.fromEntries(body) }),
  }
}
