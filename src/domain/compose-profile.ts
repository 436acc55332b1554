/** The text of a new profile. Pure. Each value is written as JSON, which YAML reads as it is: none can become another field. */
export type ComposedFields = Readonly<Record<string, string | readonly string[] | undefined>>

export function composeProfile(fields: ComposedFields, prompt: string): string {
  const lines = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([field, value]) => `${field}: ${formatValue(value ?? '')}`)
  return `---\n${lines.join('\n')}\n---\n${prompt.trim()}\n`
}

function formatValue(value: string | readonly string[]): string {
  if (typeof value !== 'string') return `[${value.map((one) => JSON.stringify(one.trim())).join(', ')}]`
  return /^[A-Za-z][A-Za-z0-9_-]*$/.test(value) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(value)
    ? value
    : JSON.stringify(value)
}
