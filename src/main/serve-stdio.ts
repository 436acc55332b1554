/** An MCP server on stdin and stdout, where nothing but the protocol may go. It ends when its client closes stdin. */
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { systemClock } from '../async/clock-system.ts'
import { createJsonLog, type Log } from '../lib/log.ts'

export const createStderrLog = (): Log =>
  createJsonLog(
    (line) => process.stderr.write(`${line}\n`),
    () => systemClock.nowMs(),
    'warn',
  )

export async function serveStdio(server: McpServer): Promise<void> {
  // A pipe that breaks is the client's end, not a crash of ours.
  process.stdout.on('error', () => process.exit(0))
  process.stdin.on('end', () => process.exit(0))
  process.stdin.on('close', () => process.exit(0))
  await server.connect(new StdioServerTransport())
}
