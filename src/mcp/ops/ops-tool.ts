/**
 * Tools for an agent that CAO has not started: a person's own assistant or editor, which operates CAO for them. It speaks
 * over the Unix socket as the person, so it may do what they may. What it reads is bounded: a screen or a long list must not fill
 * a conversation.
 */
import { z } from 'zod'
import { type CallContext, defineTool, type Tool, type ToolResult } from '../tool.ts'

export type OpsContext = CallContext & {
  /** Where an agent works when nobody says it. */
  readonly cwd: string
  /** The server picks from it what agents may have. */
  readonly clientEnv: Readonly<Record<string, string>>
}

/** As upstream names itself in an inbox. */
export const opsSender = 'cao-ops-mcp'

/** Ties the type of the arguments to their schema. */
export const defineOpsTool = <Shape extends z.ZodRawShape>(tool: {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: Shape
  readonly run: (args: z.output<z.ZodObject<Shape>>, context: OpsContext) => Promise<ToolResult>
}): Tool<OpsContext> => defineTool<Shape, OpsContext>(tool)

/** Of a list. */
export const itemsMax = 200
/** Of a text, unless the call says less. Units: characters. */
export const charsDefault = 20_000
export const charsMax = 200_000

/** The first `itemsMax`, and how many there are. */
export function boundList<T>(key: string, items: readonly T[]): Readonly<Record<string, unknown>> {
  return { [key]: items.slice(0, itemsMax), total: items.length, truncated: items.length > itemsMax }
}

/** The end of a text: what was said last is what is asked for. */
export function boundText(text: string, max = charsDefault): Readonly<Record<string, unknown>> {
  const isCut = text.length > max
  return { output: isCut ? text.slice(text.length - max) : text, total_chars: text.length, truncated: isCut }
}

export const profileName = z.string().min(1).max(128)
export const sessionName = z.string().min(1).max(128)
