/**
 * A provider adapts one agent CLI: how it is started, what its screen and its own channels say, how its
 * composer looks, how its questions are answered, where its exact answers are. It does not know tmux:
 * it gets snapshots, and gives back key strokes. Implementations sit in sub-folders, pass
 * `conformance.case.ts`, and are listed in `main/`.
 */
import type { Clock } from '../async/clock.ts'
import type { Waiting } from '../async/wait.ts'
import type { MessageToken, TerminalId } from '../domain/ids.ts'
import type { Profile } from '../domain/profile.ts'
import type { Announces, Claim, EvidenceSource, QuestionText } from '../domain/status.ts'
import type { Binding } from '../domain/terminal.ts'
import type { Log } from '../lib/log.ts'
import type { RuleChanges, RuleMatch, ScreenRule } from '../screen/rules.ts'
import type { Snapshot } from '../screen/snapshot.ts'
import { findOperation, type OperationRule } from './operation.ts'

export { findOperation, type OperationRule }

export type ProviderCapability =
  /** The agent's own record of an accepted message can be read: delivery is proven by its body. */
  | 'proof-of-body'
  /** The exact last answer can be read without the screen. */
  | 'exact-answer'
  /** A conversation can be taken up again by its id. */
  | 'resume'
  /** Needs `LaunchRequest.port`, a free loopback port. */
  | 'needs-port'

export type Key = { readonly kind: 'key'; readonly name: string } | { readonly kind: 'text'; readonly text: string }

export type Quirks = {
  /** Wait between the draft being seen and Enter. Units: ms. */
  readonly settleMs: number
  /** A dialog takes no key before it has stood this long; undefined: at once. Units: ms. */
  readonly dialogSettleMs?: number
  /**
   * Its screen is ready before it has connected to CAO's tools, and a first prompt would find none: it counts as ready when
   * they are connected, or after this time. Undefined: not waited for. Units: ms.
   */
  readonly toolsLimitMs?: number
  /** Limit for the program to become ready. Units: ms. */
  readonly startupLimitMs: number
  /** Evidence of work that nothing has renewed for this long is called hung. Units: ms. */
  readonly hungAfterMs: number
  /**
   * While it works its composer takes a prompt that it reads in a gap or after its turn, and no running tool is cancelled for it. Needs
   * `dialogSettleMs`: an Enter for a draft must not answer a dialog that came up a moment before.
   */
  readonly takesPromptsAtWork?: true
  /** An `@path` in a text, wherever it stands, makes it read that file, or opens a menu that Enter would choose from. */
  readonly hasMentions?: true
  /** A longer text is put into a file and only pointed to: as a paste it would be mangled. Units: characters. */
  readonly typedCharsMax?: number
  readonly submit: readonly Key[]
  readonly interrupt: readonly Key[]
  /** Clears the composer. */
  readonly clear: readonly Key[]
  /** Makes the program end by itself; each stroke group is followed by its pause. */
  readonly exit: readonly { readonly keys: readonly Key[]; readonly pauseMs: number }[]
}

export type ProgramOutcome =
  | { readonly kind: 'found'; readonly path: string }
  /** `hint` completes "… is not installed: ". */
  | { readonly kind: 'missing'; readonly hint: string }

export type LaunchRequest = {
  readonly terminalId: TerminalId
  readonly profile: Profile
  /** System prompt of the profile plus what CAO adds; undefined when both are empty. */
  readonly systemPrompt: string | undefined
  readonly allowedTools: readonly string[] | undefined
  readonly model: string | undefined
  /** Absolute path from `findProgram`. */
  readonly program: string
  readonly cwd: string
  /** 0700 directory of this terminal alone, for generated settings. Exists; removed with the terminal. */
  readonly privateDir: string
  /** Directory that hook events are written into, one file each. */
  readonly spoolDir: string
  /** argv of the hook shim: `… EVENT` reads a JSON payload on stdin. */
  readonly hookArgv: readonly string[]
  /** argv of CAO's MCP server, and the environment that names this terminal to it. */
  readonly mcp: { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string>> }
  /** Environment of the launching client after the allow-list. */
  readonly clientEnv: Readonly<Record<string, string>>
  readonly port: number | undefined
  /** Fresh random hex, for passwords and the like. */
  readonly randomHex: (digits: number) => string
  /** Binding of the former life when it is to be taken up again. */
  readonly resume: Binding | undefined
}

export type LaunchPlan = {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Written (0600) before the start, below `privateDir`. */
  readonly files: readonly { readonly path: string; readonly content: string }[]
  /**
   * Made before the files, below `privateDir`: ways to what stays the person's own, for a program that keeps its settings and its
   * records in one folder. A former link of the same path is replaced.
   */
  readonly links?: readonly {
    readonly path: string
    readonly target: string
    /** `target` is a folder that the program would make by itself, and is made (0700) where it is not there. */
    readonly isFolder?: true
  }[]
  /** Kept with the terminal and given to `openSignals`; secrets only as paths of files. */
  readonly binding: Binding
  /** Named at launch, e.g. "asks before shell commands". */
  readonly permissionMode: string
  /** Tool limits of the profile that this CLI can not enforce; said aloud at launch. */
  readonly limitsNotEnforced: readonly string[]
}

export type Composer =
  /** Not on the screen (start-up, dialog, covered). */
  | { readonly kind: 'absent' }
  /** Empty, or only a ghost suggestion that Enter would not send. */
  | { readonly kind: 'empty' }
  /** Holds text; `text` is what can be seen of it, lines joined by newline. */
  | { readonly kind: 'draft'; readonly text: string }
  /** Holds a paste shown as a placeholder; `chars` or `lines` where the placeholder tells. */
  | { readonly kind: 'collapsed'; readonly chars: number | undefined; readonly lines: number | undefined }

export type Dialog = {
  readonly reason: 'trust' | 'login' | 'update'
  readonly text: string
  /** Keys that CAO may press by itself; undefined: the person decides. */
  readonly answer: readonly Key[] | undefined
  /** What the dialog names: `answer` may be pressed only when this is the agent's own working directory. */
  readonly directory?: string
}

/** What one screen says. A screen that no rule matches says nothing: claim undefined. */
export type ScreenReading = {
  readonly claim: Claim | undefined
  /** Name of the rule that matched, for `explain`. */
  readonly rule: string
  readonly composer: Composer
  readonly dialog: Dialog | undefined
  /** By no rule of this program: counts only on a screen that stands still, since one that is being painted may look so. */
  readonly isGuess?: true
}

/** A reading with all that it came from, for `cao explain` and `cao rules test`. */
export type ScreenExplanation = {
  readonly reading: ScreenReading
  /** The rule that won and its region's text. */
  readonly match: RuleMatch | undefined
  /** What each region holds; undefined: not on this screen. */
  readonly regions: Readonly<Record<string, string | undefined>>
}

/** Reads screens by rules that are data. Made by `createScreenReader` of `screen-reader.ts`. Pure. */
export interface ScreenReader {
  /** Names that a rule may use. */
  readonly regions: readonly string[]
  readonly rules: readonly ScreenRule[]
  readonly read: (snapshot: Snapshot) => ScreenReading
  readonly explain: (snapshot: Snapshot) => ScreenExplanation
  /** A reader with these rules over its own: one of the same name takes the other's place. */
  withRules(changes: RuleChanges): ScreenReader
}

/** What a provider's structured channels tell. */
export type Signal =
  | {
      readonly kind: 'claim'
      readonly source: EvidenceSource
      readonly claim: Claim
      readonly atMs: number
      readonly raw: string
    }
  /** The agent's own record that it took a user message. */
  | {
      readonly kind: 'accepted'
      readonly source: EvidenceSource
      readonly text: string
      readonly atMs: number
      readonly raw: string
    }
  /** The binding became more exact (vendor session id, transcript path). Merged and stored. */
  | { readonly kind: 'bound'; readonly binding: Binding }

export type HookEvent = {
  readonly name: string
  readonly payload: unknown
  readonly file: string
  readonly atMs: number
}

/** What a turn took, as far as its program tells. */
export type TurnCost = {
  /** Units: ms. */
  readonly durationMs: number | undefined
  readonly inputTokens: number | undefined
  readonly outputTokens: number | undefined
}

export type AnswerOutcome =
  | { readonly kind: 'exact'; readonly text: string; readonly source: EvidenceSource; readonly cost?: TurnCost }
  | { readonly kind: 'none'; readonly why: string }

export type SignalContext = {
  readonly terminalId: TerminalId
  readonly cwd: string
  readonly privateDir: string
  readonly binding: Binding
  readonly clock: Clock
  readonly log: Log
  readonly emit: (signal: Signal) => void
}

/** The open structured channels of one agent. Owns: the caller disposes; disposing leaves the agent alone. */
export interface ProviderSignals extends AsyncDisposable {
  /** A hook event from the spool, in order. Unknown or unparsable ones are dropped with a trace. */
  handleHook(event: HookEvent): void
  /**
   * What the program printed, in order and without holes but for those of the log; for marks that tmux drops. Cut anywhere.
   * After a restart of the server what was printed meanwhile comes first. Absent: the provider does not look at it.
   */
  handleOutput?(bytes: Uint8Array): void
  /**
   * The exact answer of the last ended turn, or of the newest one even when nothing told of its end yet. Re-reads until
   * settled, within the wait.
   */
  loadAnswer(waiting: Waiting, which?: 'ended' | 'newest'): Promise<AnswerOutcome>
  /**
   * Gives `answer` to a question by the program's own channel, for what keys can not give. Absent, or `not offered`: it has none
   * for this question. Errors: none; what the program does not take is refused.
   */
  answer?(question: QuestionText, answer: string, waiting: Waiting): Promise<ChannelAnswer>
  /** Whether the agent's records hold a user message that contains `token`; unknown when they can not be read. */
  findAccepted(token: MessageToken, waiting: Waiting): Promise<'yes' | 'no' | 'unknown'>
}

export type ChannelAnswer =
  | { readonly kind: 'given' }
  | { readonly kind: 'not offered' }
  | { readonly kind: 'refused'; readonly why: string }

export type AnswerPlan =
  /** `isPartial`: these lead to a screen on which the rest is planned anew; keys sent ahead of it might choose something else. */
  | { readonly kind: 'keys'; readonly keys: readonly Key[]; readonly isPartial?: true }
  | { readonly kind: 'refused'; readonly why: string }

export interface Provider {
  readonly name: string
  readonly title: string
  readonly capabilities: ReadonlySet<ProviderCapability>
  readonly announces: Announces
  readonly quirks: Quirks
  /** Finds the program on the client's PATH (or a place of its own). Errors: none. */
  findProgram(clientEnv: Readonly<Record<string, string>>): Promise<ProgramOutcome>
  /** Pure but for reading what the request names. Errors: AppError VALIDATION for a profile it can not serve. */
  planLaunch(request: LaunchRequest): Promise<LaunchPlan>
  /** Pure. Errors: none; an odd screen gives a reading without claim. Where there is `screen`, it is its `read`. */
  readScreen(snapshot: Snapshot): ScreenReading
  /** Its screen rules as data. A provider without it reads its screen by code, and nobody can replace a rule. */
  readonly screen?: ScreenReader
  /** Opens the structured channels (returns at once, connects in the background, reconnects by itself). */
  openSignals(context: SignalContext): ProviderSignals
  /** What its permission prompts would do, by their text. Absent: not known. */
  readonly operations?: readonly OperationRule[]
  /** Key strokes that give `answer` (an option's text or number, or free text) to the question on `snapshot`. Pure. */
  planAnswer(question: QuestionText, answer: string, snapshot: Snapshot): AnswerPlan
  /**
   * The answer that allows a call of one of CAO's own tools, where this CLI can not be told before that they are allowed;
   * undefined for every other question. Pure.
   */
  ownToolAnswer?(question: QuestionText): string | undefined
}
