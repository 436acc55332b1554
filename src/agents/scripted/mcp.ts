/**
 * The agent's MCP side: starts the configured servers over stdio with the official client, knows their tools, calls
 * them. The client library is loaded when the first server is started, so that an agent is ready before it.
 */
import { readFile } from 'node:fs/promises'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'

/** A call may wait for another agent's whole work; progress starts the time anew. Units: ms. */
export const callLimitMs = 2 * 3600_000
const connectLimitMs = 30_000

export type ToolOutcome = { readonly text: string; readonly isError: boolean }

type ServerConfig = {
  readonly command: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}
type Connected = {
  readonly name: string
  readonly client: Client
  readonly tools: ReadonlySet<string>
  readonly error?: never
}
type Failed = { readonly name: string; readonly error: string }

export class McpServers implements AsyncDisposable {
  readonly #servers: Promise<readonly (Connected | Failed)[]>

  /** Starts connecting at once, in the background. */
  constructor(configPath: string | undefined, env: Readonly<Record<string, string>>) {
    this.#servers = configPath === undefined ? Promise.resolve([]) : connectAll(configPath, env)
    // Reported by the first call; an agent that never calls does not die of it.
    this.#servers.catch(() => undefined)
  }

  /** A line for the screen: which servers are there. Errors: none. */
  async describe(): Promise<string> {
    try {
      const servers = await this.#servers
      return servers
        .map((server) => `${server.name} (${server.error === undefined ? `${server.tools.size} tools` : 'failed'})`)
        .join(', ')
    } catch (error) {
      return `no MCP: ${messageOf(error)}`
    }
  }

  /** Calls the tool on whichever server has it. Errors: none but the signal's reason; a failed call says so in its text. */
  async call(name: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ToolOutcome> {
    try {
      const servers = await this.#servers
      const server = servers.find((one) => one.error === undefined && one.tools.has(name))
      if (server === undefined || server.error !== undefined)
        return { text: explainMissing(name, servers), isError: true }
      const result = await server.client.callTool({ name, arguments: { ...args } }, undefined, {
        signal,
        timeout: callLimitMs,
        resetTimeoutOnProgress: true,
        onprogress: () => undefined,
      })
      return { text: textOf(result), isError: result.isError === true }
    } catch (error) {
      if (signal.aborted) throw signal.reason
      return { text: messageOf(error), isError: true }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const servers = await this.#servers.catch(() => [])
    const clients = servers.flatMap((server) => (server.error === undefined ? [server.client] : []))
    await Promise.all(clients.map((client) => client.close()))
  }
}

async function connectAll(
  path: string,
  env: Readonly<Record<string, string>>,
): Promise<readonly (Connected | Failed)[]> {
  const config = JSON.parse(await readFile(path, 'utf8')) as { mcpServers?: Readonly<Record<string, ServerConfig>> }
  const entries = Object.entries(config.mcpServers ?? {})
  return Promise.all(entries.map(([name, server]) => connect(name, server, env)))
}

async function connect(
  name: string,
  server: ServerConfig,
  env: Readonly<Record<string, string>>,
): Promise<Connected | Failed> {
  try {
    const [{ Client }, { StdioClientTransport }] = await Promise.all([
      import('@modelcontextprotocol/sdk/client/index.js'),
      import('@modelcontextprotocol/sdk/client/stdio.js'),
    ])
    const client = new Client({ name: 'scripted-agent', version: '1' })
    const transport = new StdioClientTransport({
      command: server.command,
      args: [...(server.args ?? [])],
      env: { ...env, ...server.env },
      stderr: 'ignore',
    })
    await client.connect(transport, { timeout: connectLimitMs })
    const { tools } = await client.listTools(undefined, { timeout: connectLimitMs })
    return { name, client, tools: new Set(tools.map((tool) => tool.name)) }
  } catch (error) {
    return { name, error: messageOf(error) }
  }
}

function explainMissing(name: string, servers: readonly (Connected | Failed)[]): string {
  const failed = servers.filter((server) => server.error !== undefined)
  const why = failed.map((server) => ` (${server.name} did not start: ${server.error})`).join('')
  return `there is no tool ${name}${why}`
}

function textOf(result: Awaited<ReturnType<Client['callTool']>>): string {
  const content: unknown = result.content
  if (!Array.isArray(content)) return JSON.stringify(result)
  return content
    .map((part: unknown) => {
      const text = typeof part === 'object' && part !== null && 'text' in part ? part.text : undefined
      return typeof text === 'string' ? text : JSON.stringify(part)
    })
    .join('\n')
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
