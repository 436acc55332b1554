/**
 * Where agents live: something that holds a terminal, shows its screen, takes keys and keeps its output.
 * Implementations sit in sub-folders, pass `conformance.case.ts`, and are named only in `main/`.
 *
 * Order of calls: `ensure` first (it starts or finds the backend's server); then `open` for a new agent, or
 * `list` + `attach` for one that outlived us. A `BackendTerminal` is a handle: closing it with
 * `asyncDispose` stops our watching and leaves the agent alone; `destroy` ends the agent.
 */
import type { Waiting } from '../async/wait.ts'
import type { InstanceId, SessionName, TerminalId } from '../domain/ids.ts'
import type { Exit, PaneRef } from '../domain/terminal.ts'
import type { Size, Snapshot } from '../screen/snapshot.ts'

export type { Waiting } from '../async/wait.ts'

/** Absent power: the caller does without. Never test for a backend by name. */
export type BackendCapability = 'survives-server-restart' | 'human-can-attach' | 'reports-title'

export type OpenPlan = {
  readonly terminalId: TerminalId
  readonly sessionName: SessionName
  /** Shown to people; a label. Any text: the backend makes it harmless. */
  readonly windowName: string
  /** Several words, the first an absolute path. Checked by the caller. */
  readonly argv: readonly string[]
  readonly cwd: string
  /** The whole environment of the agent: nothing else reaches it but what a terminal sets itself (TERM …). */
  readonly env: Readonly<Record<string, string>>
  readonly size: Size
}

export type OpenOutcome =
  | { readonly kind: 'opened'; readonly terminal: BackendTerminal }
  /** Nothing of this call is left behind. */
  | {
      readonly kind: 'refused'
      readonly reason: 'cwd-missing' | 'program-missing' | 'ended-at-once'
      readonly detail: string
    }

/** A pane that carries our tag, found on the running backend. */
export type FoundTerminal = {
  readonly terminalId: TerminalId
  readonly pane: PaneRef
  readonly sessionName: string
  readonly windowName: string
  readonly isDead: boolean
}

/** present and absent are what the backend said; unknown changes nothing. */
export type Presence = 'present' | 'absent' | 'unknown'

export type BackendFacts = {
  readonly name: string
  readonly version: string
  readonly instanceId: InstanceId
  /** For people and `doctor`: socket, pid, options. */
  readonly details: Readonly<Record<string, string>>
}

/** For `doctor`: what was found, and what to do about it. */
export type BackendFinding = {
  readonly what: string
  readonly level: 'ok' | 'note' | 'fail'
  readonly detail: string
}

export type BackendLost = { readonly instanceId: InstanceId; readonly reason: string }

export interface TerminalBackend extends AsyncDisposable {
  readonly name: string
  readonly capabilities: ReadonlySet<BackendCapability>
  /** Starts the backend's server, or finds the running one. Idempotent. Errors: BACKEND_GONE, BACKEND_TIMEOUT, SETUP_MISSING. */
  ensure(waiting: Waiting): Promise<BackendFacts>
  /** Starts an agent. The first byte it prints is in its output log. Errors: BACKEND_GONE, BACKEND_TIMEOUT. Owns: the caller disposes the terminal. */
  open(plan: OpenPlan, waiting: Waiting): Promise<OpenOutcome>
  /** All terminals of ours on the running server, dead ones included. Errors: BACKEND_GONE, BACKEND_TIMEOUT. */
  list(waiting: Waiting): Promise<readonly FoundTerminal[]>
  /** A handle for a terminal that `list` found (or that a row names). No I/O; what is gone shows at the first call. */
  attach(terminalId: TerminalId, pane: PaneRef): BackendTerminal
  /** Fires once per death of the whole backend server, with everything that was on it gone. Errors: none. */
  onLost(listener: (lost: BackendLost) => void): Disposable
  /**
   * Fires with false when the backend's server has not answered for some seconds, with true (also without a false before)
   * when it does again. Nothing is lost by it.
   */
  onAnswering(listener: (isAnswering: boolean) => void): Disposable
  /** Looks at itself for a person. Errors: BACKEND_GONE before `ensure`. */
  examine(waiting: Waiting): Promise<readonly BackendFinding[]>
  /** argv for a person to look at a session (and a pane in it) from a shell. */
  attachArgv(sessionName: SessionName, pane: PaneRef | undefined): readonly string[]
  /** Ends the backend's server and all that is on it. Only for `shutdown --all`. */
  shutdown(waiting: Waiting): Promise<void>
}

export type CaptureOutcome = { readonly kind: 'captured'; readonly snapshot: Snapshot } | { readonly kind: 'gone' }

/** Keys by tmux's names: Enter, Escape, Up, Down, Left, Right, Tab, BTab, Space, BSpace, C-c, M-x, F1 … */
export type KeyName = string
export type KeyStroke =
  | { readonly kind: 'key'; readonly name: KeyName }
  | { readonly kind: 'text'; readonly text: string }

export type InputOutcome =
  /** Handed to the terminal; proves nothing about the agent. */
  { readonly kind: 'done' } | { readonly kind: 'refused'; readonly reason: 'gone' | 'dead' | 'input-off' }

export type OutputChunk = {
  /** Bytes as printed, from `offset` on. */
  readonly bytes: Uint8Array
  readonly offset: number
  /** Bytes that are missing before this chunk (log trimmed or replaced); 0 normally. */
  readonly gapBytes: number
}

/** What a person looks through; `activeAtMs` is the last key or click in it, on whatever pane. */
export type BackendClient = { readonly name: string; readonly activeAtMs: number }

export interface BackendTerminal extends AsyncDisposable {
  readonly id: TerminalId
  readonly pane: PaneRef
  /** The viewport, or with `historyLines` that many lines above it too. `styled` keeps SGR attributes. Source: tmux(1), capture-pane. */
  capture(
    options: { readonly historyLines?: number; readonly styled?: boolean },
    waiting: Waiting,
  ): Promise<CaptureOutcome>
  /**
   * Hands over `text` as one paste (bracketed when the program asked for it), without Enter. Leaves any pane mode first.
   * `mark` is left at the terminal in the same step and outlives us: it proves after a crash whether the paste happened.
   */
  paste(text: string, options: { readonly mark: string }, waiting: Waiting): Promise<InputOutcome>
  /** The mark of the last paste that reached the terminal; undefined when there was none or the terminal is gone. */
  lastPasteMark(waiting: Waiting): Promise<string | undefined>
  /** Presses keys in order, each leaving any pane mode first. Text in a stroke is typed as it is. */
  press(strokes: readonly KeyStroke[], waiting: Waiting): Promise<InputOutcome>
  /** Calls `listener` for output from `fromOffset` on, in order; one reader. Dispose to stop. */
  follow(fromOffset: number, listener: (chunk: OutputChunk) => void): Disposable
  /** Length of the output log so far, bytes. */
  outputLength(): Promise<number>
  /** Up to `lengthMax` bytes of the log from `offset`. Trimmed parts are simply absent. */
  readOutput(offset: number, lengthMax: number): Promise<Uint8Array>
  presence(waiting: Waiting): Promise<Presence>
  /** People's clients that look at its session now, and when each was used last, to the second. Errors: BACKEND_GONE, BACKEND_TIMEOUT. */
  listClients(waiting: Waiting): Promise<readonly BackendClient[]>
  /** Process id of the agent itself (not of what wraps it); undefined before it is known and after its end. */
  agentPid(): Promise<number | undefined>
  /** Settles once with the agent's end, as seen by this handle; never rejects, never settles after dispose. */
  readonly exited: Promise<Exit>
  /** Ends the agent's processes: asks, waits `graceMs`, then surely; removes the pane. Idempotent. Touches nothing else. */
  destroy(options: { readonly graceMs: number }, waiting: Waiting): Promise<void>
}
