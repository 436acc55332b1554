/** A small MCP server for the tests of the agent's client: `greet {name}` and `wait {ms}`, which tells its progress. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

const server = new McpServer({ name: 'test', version: '1' })
server.registerTool('greet', { inputSchema: { name: z.string() } }, ({ name }) => ({
  content: [{ type: 'text', text: `hello ${name} from ${process.env['GREETER'] ?? 'nobody'}` }],
}))
server.registerTool('wait', { inputSchema: { ms: z.number() } }, async ({ ms }) => {
  await new Promise((resolve) => setTimeout(resolve, ms))
  return { content: [{ type: 'text', text: `waited ${ms}` }] }
})
await server.connect(new StdioServerTransport())
