/** The front matter of a profile as JSON Schema, for editors and generators. `app/parse-profile.ts` is what decides. Pure data. */
const text = (description: string) => ({ type: 'string', description }) as const
const texts = (description: string) =>
  ({ type: 'array', items: { type: 'string', maxLength: 128 }, description }) as const
const anyMap = (description: string) => ({ type: 'object', additionalProperties: true, description }) as const
const textMap = (description: string) =>
  ({ type: 'object', additionalProperties: { type: 'string' }, description }) as const

const mcpServer = {
  type: 'object',
  oneOf: [{ required: ['command'] }, { required: ['url'] }],
  properties: {
    type: { enum: ['stdio', 'http', 'streamable-http', 'sse'] },
    command: text('The program to start'),
    args: { type: 'array', items: { type: 'string' } },
    env: textMap('Its environment'),
    url: { type: 'string', format: 'uri', pattern: '^https?://' },
    headers: textMap('Sent with each request'),
    timeout: { type: 'integer', exclusiveMinimum: 0, description: 'For one call of a tool, in ms' },
  },
} as const

export const profileFrontMatterSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Agent profile',
  description: 'The YAML front matter of NAME.md; the text after it is the system prompt',
  type: 'object',
  additionalProperties: true,
  properties: {
    name: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$', description: 'As the file is called' },
    description: text('One sentence, for those who choose'),
    role: text(
      'supervisor, developer, reviewer, or a role of the settings; decides the tools when allowedTools does not',
    ),
    provider: text('Which CLI it is'),
    model: text('As the CLI spells it'),
    permissionMode: text('Passed to the CLI where it has such a mode'),
    allowedTools: texts('Tools, fs_* and * for groups, @NAME for an MCP server'),
    capabilities: { ...texts('For those who choose'), maxItems: 32 },
    tags: {
      type: 'array',
      maxItems: 32,
      items: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
      description: 'For those who choose',
    },
    mcpServers: { type: 'object', additionalProperties: mcpServer, description: 'More MCP servers for the agent' },
    skills: texts('Patterns of the skills that it is told of; absent: all, empty: none'),
    supervisorMayAnswer: texts(
      'What another agent may answer: question, permission, permission(PATTERN) for commands; absent: question',
    ),
    provider_init_timeout: { type: 'number', exclusiveMinimum: 0, maximum: 3_600, description: 'In seconds' },
    native_agent: text('claude_code: an agent of its own configuration'),
    claudeConfig: {
      type: 'object',
      additionalProperties: false,
      properties: { effort: { type: 'string' }, fallback_model: { type: 'string' } },
      description: 'claude_code',
    },
    codexProfile: text('codex: a profile of its own configuration'),
    codexConfig: anyMap('codex: settings given at launch'),
    hermesProfile: text('hermes: a profile of its own'),
    grokNativeWorkflows: { type: 'boolean', description: 'grok_cli: its own sub-agents' },
    engine: text('kiro_cli'),
    prompt: text('kiro_cli'),
    tools: texts('kiro_cli'),
    toolAliases: textMap('kiro_cli'),
    toolsSettings: anyMap('kiro_cli'),
    resources: texts('kiro_cli'),
    hooks: anyMap('kiro_cli'),
    useLegacyMcpJson: { type: 'boolean', description: 'kiro_cli' },
    container: {
      type: 'object',
      properties: {
        path_maps: {
          type: 'array',
          items: {
            type: 'object',
            required: ['host', 'guest'],
            properties: { host: { type: 'string' }, guest: { type: 'string' } },
          },
        },
      },
      description: 'Where folders of this machine are in the container of the CLI',
    },
  },
} as const
