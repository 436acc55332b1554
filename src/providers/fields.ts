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

export function listOf(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name]
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

/** The objects in a list; others are left out. */
export const objectsOf = (fields: Fields, name: string): readonly Fields[] => listOf(fields, name).filter(isFields)

/** undefined when it is no JSON object. */
export function parseFields(text: string): Fields | undefined {
  const value = parseJson(text)
  return isFields(value) ? value : undefined
}

/** undefined when it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
