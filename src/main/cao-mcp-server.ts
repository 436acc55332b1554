/**
 * The MCP server program: a child of an agent, on stdin and stdout. Nothing but the protocol goes to stdout; what
 * there is to say about faults goes to stderr. It ends when its agent closes stdin; work it has started goes on.
 */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { systemClock } from '../async/clock-system.ts'
import { createClient } from '../client/client.ts'
import { AppError } from '../domain/errors.ts'
import { version } from '../lib/version.ts'
import { loadIdentity } from '../mcp/identity.ts'
import { createMcpServer, type McpOptions } from '../mcp/server.ts'
import type { ToolContext } from '../mcp/tool.ts'
import { tools } from '../mcp/tools.ts'
import { createStderrLog, serveStdio } from './serve-stdio.ts'

const log = createStderrLog()

function findAgent(): McpOptions<ToolContext>['open'] {
  try {
    const identity = loadIdentity(process.env)
    const { socketPath, capability } = identity
    const agent = { identity, client: createClient({ socketPath }, { capability, clock: systemClock }) }
    return () => Promise.resolve(agent)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    log.write('warn', 'not started by CAO', { why: error.message })
    return () => Promise.reject(error)
  }
}

const instructions = `You are one of several agents that CAO runs, each in a terminal of its own. With these tools you delegate work
to new agents (handoff: wait for the answer; assign: go on, the answer comes as a message; job_status, job_result and job_cancel look after
what you gave away; report_result ends a task that you were given), write to running ones (send_message), answer
one that waits for a decision (answer_user_prompt), and end those you started (delete_terminal). Messages to you are typed between your turns.`

const server = createMcpServer({
  name: 'cao-mcp-server',
  version,
  instructions: instructions.replaceAll('\n', ' '),
  tools,
  open: findAgent(),
  clock: systemClock,
  log,
  makeUuid: randomUUID,
})
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
await serveStdio(server)
