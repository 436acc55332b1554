/**
 * An MCP server: gives a table of tools to the official SDK. Calls run in parallel; each has its own abort signal; a fault
 * becomes an answer that the agent can read, never a broken connection. Only the SDK writes to stdout.
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js'
import type { CallToolResult, ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js'
import type { Clock } from '../async/clock.ts'
import { AppError } from '../domain/errors.ts'
import type { Log } from '../lib/log.ts'
import { type CallContext, type Progress, type Tool, type ToolResult, toFailure } from './tool.ts'

type CallParts = Omit<CallContext, 'client'>

export type McpOptions<Context extends CallContext> = {
  readonly name: string
  readonly version: string
  /** What a model is told of the whole, once. */
  readonly instructions: string
  readonly tools: readonly Tool<Context>[]
  /** Whom a call speaks for, and to whom; asked for at each. Errors: AppError, which the caller of the tool is told. */
  readonly open: () => Promise<Omit<Context, keyof CallParts>>
  readonly clock: Clock
  readonly log: Log
  readonly makeUuid: () => string
}

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>

/** Ready to be connected to a transport; the caller closes it. */
export function createMcpServer<Context extends CallContext>(options: McpOptions<Context>): McpServer {
  const { name, version, instructions } = options
  const server = new McpServer({ name, version }, { instructions })
  for (const tool of options.tools) {
    server.registerTool(
      tool.name,
      { title: tool.title, description: tool.description, inputSchema: tool.input },
      async (args: Readonly<Record<string, unknown>>, extra: Extra) =>
        toContent(await runTool(tool, args, extra, options)),
    )
  }
  return server
}

async function runTool<Context extends CallContext>(
  tool: Tool<Context>,
  args: Readonly<Record<string, unknown>>,
  extra: Extra,
  options: McpOptions<Context>,
): Promise<ToolResult> {
  const { clock, log, makeUuid } = options
  const parts: CallParts = { clock, makeUuid, signal: extra.signal, report: (told) => report(extra, told) }
  try {
    return await tool.run(args, { ...(await options.open()), ...parts } as Context)
  } catch (error) {
    // The reader of an abandoned call is gone, whatever is answered.
    if (extra.signal.aborted) return toFailure(new AppError('CONFLICT', 'the call was given up'))
    if (error instanceof AppError) return toFailure(error, error.data)
    log.write('error', 'a tool failed unexpectedly', { tool: tool.name, error: String(error) })
    return toFailure(new AppError('INTERNAL', `${tool.name} failed unexpectedly: ${String(error)}`))
  }
}

function toContent(result: ToolResult): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: { ...result } }
}

async function report(extra: Extra, { doneS, ofS, message }: Progress): Promise<void> {
  const progressToken = extra._meta?.progressToken
  if (progressToken === undefined || extra.signal.aborted) return
  const params = { progressToken, progress: doneS, total: ofS, message }
  // A client that is gone shows at the answer; progress is a courtesy.
  await extra.sendNotification({ method: 'notifications/progress', params }).catch(() => undefined)
}
