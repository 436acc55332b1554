/** An agent profile: upstream's Markdown file with YAML front matter, read and checked. The body is the system prompt. */
export type McpServer = {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

export type Profile = {
  readonly name: string
  readonly description: string
  readonly role: string | undefined
  readonly provider: string | undefined
  readonly model: string | undefined
  readonly permissionMode: string | undefined
  readonly allowedTools: readonly string[] | undefined
  readonly capabilities: readonly string[]
  readonly tags: readonly string[]
  readonly mcpServers: Readonly<Record<string, McpServer>>
  /** Limit for the program to become ready, milliseconds; undefined: the provider's own. */
  readonly startupLimitMs: number | undefined
  readonly systemPrompt: string
  /** Where it was read: a file path, or `built-in`. */
  readonly source: string
}

export const profileNamePattern = /^[A-Za-z0-9_-]{1,64}$/
export const roles = ['supervisor', 'developer', 'reviewer'] as const
export type Role = (typeof roles)[number]

/** Upstream's tool vocabulary per role; `*` means no limit. */
export const roleTools: Readonly<Record<Role, readonly string[]>> = {
  supervisor: ['@cao-mcp-server', 'fs_read', 'fs_list'],
  reviewer: ['@builtin', 'fs_read', 'fs_list', '@cao-mcp-server'],
  developer: ['@builtin', 'fs_*', 'execute_bash', 'web_fetch', '@cao-mcp-server'],
}
