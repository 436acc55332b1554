/**
 * What a tool is: a name, words that teach an agent when to use it, its arguments, and what it does. `tools.ts` lists those of
 * an agent of CAO, `ops/ops-tools.ts` those of an agent outside; `server.ts` gives either to the SDK. A new tool is a file
 * in `tools/` and one line in the table.
 */
import type { z } from 'zod'
import type { Clock } from '../async/clock.ts'
import type { Client } from '../client/client.ts'
import { AppError } from '../domain/errors.ts'
import type { Identity } from './identity.ts'

/** What every tool has at hand. */
export type CallContext = {
  readonly client: Client
  readonly clock: Clock
  readonly makeUuid: () => string
  /** Aborts when the agent gives this call up. */
  readonly signal: AbortSignal
  /** Tells the agent that the call is alive; does nothing when it did not ask. Never rejects. */
  readonly report: (progress: Progress) => Promise<void>
}
/** Of a tool of an agent of CAO, which acts as itself. */
export type ToolContext = CallContext & { readonly identity: Identity }

/** Units: s. */
export type Progress = { readonly doneS: number; readonly ofS: number; readonly message: string }

/** What the agent gets, as JSON. `success` stands in every one. */
export type ToolResult = Readonly<Record<string, unknown>> & { readonly success: boolean }

export type Tool<Context = ToolContext> = {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: z.ZodRawShape
  /** `args` have passed `input`. Errors: AppError; it becomes `{success: false, …}`. */
  readonly run: (args: Readonly<Record<string, unknown>>, context: Context) => Promise<ToolResult>
}

/** Ties the type of the arguments to their schema. */
export function defineTool<Shape extends z.ZodRawShape, Context = ToolContext>(tool: {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: Shape
  readonly run: (args: z.output<z.ZodObject<Shape>>, context: Context) => Promise<ToolResult>
}): Tool<Context> {
  return { ...tool, run: (args, context) => tool.run(args as z.output<z.ZodObject<Shape>>, context) }
}

/** Upstream's agents look at `message` (handoff, assign) or `error` (the others): a failure has both. */
export function toFailure(error: AppError, extra: Readonly<Record<string, unknown>> = {}): ToolResult {
  return { success: false, message: error.message, error: error.message, code: error.code, ...extra }
}

/** The server is down, or does not answer: whether it has heard us is not known. */
export const isServerAway = (error: unknown): error is AppError =>
  error instanceof AppError &&
  (error.code === 'SERVER_UNREACHABLE' || (error.code === 'TIMEOUT' && error.data['where'] !== undefined))
