/**
 * The MCP server of one agent: gives the table of tools to the official SDK. Calls run in parallel; each has its own abort
 * signal; a fault becomes an answer that the agent can read, never a broken connection. Only the SDK writes to stdout.
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js'
import type { CallToolResult, ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js'
import type { Clock } from '../async/clock.ts'
import type { Client } from '../client/client.ts'
import { AppError } from '../domain/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Identity } from './identity.ts'
import { type Progress, type Tool, type ToolContext, type ToolResult, toFailure } from './tool.ts'
import { tools } from './tools.ts'

export type McpOptions = {
  /** Undefined: not started by CAO, for the reason given; the tools are listed and say so. */
  readonly agent: { readonly identity: Identity; readonly client: Client } | { readonly missing: AppError }
  readonly clock: Clock
  readonly log: Log
  readonly makeUuid: () => string
  readonly version: string
}

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>

export const serverName = 'cao-mcp-server'

/** Ready to be connected to a transport; the caller closes it. */
export function createMcpServer(options: McpOptions): McpServer {
  const server = new McpServer({ name: serverName, version: options.version })
  for (const tool of tools) {
    server.registerTool(
      tool.name,
      { title: tool.title, description: tool.description, inputSchema: tool.input },
      async (args: Readonly<Record<string, unknown>>, extra: Extra) =>
        toContent(await runTool(tool, args, extra, options)),
    )
  }
  return server
}

async function runTool(
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  extra: Extra,
  options: McpOptions,
): Promise<ToolResult> {
  const { agent, clock, log, makeUuid } = options
  if ('missing' in agent) return toFailure(agent.missing)
  const context: ToolContext = {
    ...agent,
    clock,
    makeUuid,
    signal: extra.signal,
    report: (told) => report(extra, told),
  }
  try {
    return await tool.run(args, context)
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
