/**
 * The versions of the CLIs at which all states were last right: driven through them by `npm run conformance`, which writes this list
 * and the table in docs/versions.md. Pure.
 */
export type LastGreen = {
  readonly provider: string
  readonly version: string
  /** Columns and rows of the terminal. */
  readonly size: string
  /** How many states were tried, all of them right. */
  readonly states: number
  readonly date: string
}

export const lastGreen: readonly LastGreen[] = [
  { provider: 'claude_code', version: '2.1.332', size: '200x50', states: 18, date: '2026-12-01' },
  { provider: 'claude_code', version: '2.1.332', size: '80x24', states: 18, date: '2026-12-01' },
  { provider: 'codex', version: '0.171.0', size: '200x50', states: 19, date: '2026-12-01' },
  { provider: 'codex', version: '0.171.0', size: '80x24', states: 19, date: '2026-12-01' },
  { provider: 'gemini_cli', version: '0.61.0', size: '200x50', states: 17, date: '2026-12-01' },
  { provider: 'gemini_cli', version: '0.61.0', size: '80x24', states: 17, date: '2026-12-01' },
  { provider: 'kimi_cli', version: '2.1.0', size: '200x50', states: 17, date: '2026-12-01' },
  { provider: 'kimi_cli', version: '2.1.0', size: '80x24', states: 17, date: '2026-12-01' },
  { provider: 'opencode_cli', version: '1.18.33', size: '200x50', states: 18, date: '2026-12-01' },
  { provider: 'opencode_cli', version: '1.18.33', size: '80x24', states: 18, date: '2026-12-01' },
  { provider: 'qwen_cli', version: '0.24.4', size: '200x50', states: 17, date: '2026-12-01' },
  { provider: 'qwen_cli', version: '0.24.4', size: '80x24', states: 17, date: '2026-12-01' },
]

/** The text of docs/versions.md. */
export function formatVersions(rows: readonly LastGreen[]): string {
  const lines = rows.map(
    ({ provider, version, size, states, date }) => `| \`${provider}\` | ${version} | ${size} | ${states} | ${date} |`,
  )
  return `# Versions

The versions of each CLI at which every state was right: start, answer, streaming, silence, interrupt, permission, question, errors, a broken
connection, limits, tools of two agents at once, end and resume, on the real program with a scripted model, held against what the model knew. Written
by \`npm run conformance -- --all\`.

| Provider | Version | Terminal | States | Date |
| --- | --- | --- | --- | --- |
${lines.join('\n')}
`
}

/** A sentence for \`cao doctor\`; undefined: never. */
export function describeLastGreen(provider: string): string | undefined {
  const rows = lastGreen.filter((row) => row.provider === provider)
  const versions = [...new Set(rows.map(({ version }) => version))]
  return versions.length === 0 ? undefined : `tried with ${versions.join(', ')}`
}
