/**
 * The MCP server program: a child of an agent, on stdin and stdout. Nothing but the protocol goes to stdout; what
 * there is to say about faults goes to stderr. It ends when its agent closes stdin; work it has started goes on.
 */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { systemClock } from '../async/clock-system.ts'
import { createClient } from '../client/client.ts'
import { AppError } from '../domain/errors.ts'
import { createJsonLog } from '../lib/log.ts'
import { version } from '../lib/version.ts'
import { loadIdentity } from '../mcp/identity.ts'
import { createMcpServer, type McpOptions } from '../mcp/server.ts'

const log = createJsonLog(
  (line) => process.stderr.write(`${line}\n`),
  () => systemClock.nowMs(),
  'warn',
)

function findAgent(): McpOptions['agent'] {
  try {
    const identity = loadIdentity(process.env)
    const { socketPath, capability } = identity
    return { identity, client: createClient({ socketPath }, { capability, clock: systemClock }) }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    log.write('warn', 'not started by CAO', { why: error.message })
    return { missing: error }
  }
}

const server = createMcpServer({ agent: findAgent(), clock: systemClock, log, makeUuid: randomUUID, version })
// Whoever waits for the tools of this agent learns by this file that they are there.
const toolsFile = process.env['CAO_TOOLS_FILE']
server.server.oninitialized = () => {
  if (toolsFile === undefined) return
  try {
    writeFileSync(toolsFile, '', { mode: 0o600 })
  } catch (error) {
    log.write('warn', 'nobody is told that the tools are there', { error: String(error) })
  }
}
// A pipe that breaks is the agent's end, not a crash of ours.
process.stdout.on('error', () => process.exit(0))
process.stdin.on('end', () => process.exit(0))
process.stdin.on('close', () => process.exit(0))
await server.connect(new StdioServerTransport())
