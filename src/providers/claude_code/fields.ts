/** Reading JSON of a program that we do not control: what is not as expected is read as absent. */
export type Fields = Readonly<Record<string, unknown>>

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function textOf(fields: Fields, name: string): string | undefined {
  const value = fields[name]
  return typeof value === 'string' ? value : undefined
}

export function numberOf(fields: Fields, name: string): number | undefined {
  const value = fields[name]
  return typeof value === 'number' ? value : undefined
}

export function fieldsOf(fields: Fields, name: string): Fields {
  const value = fields[name]
  return isFields(value) ? value : {}
}

export function listOf(fields: Fields, name: string): readonly Fields[] {
  const value = fields[name]
  return Array.isArray(value) ? value.filter(isFields) : []
}

/** undefined when it is no JSON object. */
export function parseFields(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isFields(value) ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
