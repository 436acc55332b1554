/**
 * `${NAME}` in a profile. Pure. Before the YAML is read each becomes one word of letters, so that it may stand wherever a value
 * may; afterwards each word becomes the variable's value, or what was written where there is none.
 */
const written = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g
// Two characters of Unicode's private use area, which mean nothing to YAML.
const marked = /\uE000([A-Za-z_][A-Za-z0-9_]*)\uE001/g

export const markVariables = (text: string): string => text.replace(written, '\uE000$1\uE001')

export type Filled = { readonly value: unknown; readonly unresolved: readonly string[] }

/** Fills in every text of `value`, at any depth; keys, too, become what was written. */
export function fillIn(value: unknown, variables: Readonly<Record<string, string>>): Filled {
  const unresolved = new Set<string>()
  const fillText = (text: string, isKey: boolean): string =>
    text.replace(marked, (_word, name: string) => {
      const found = !isKey && Object.hasOwn(variables, name) ? variables[name] : undefined
      if (found === undefined && !isKey) unresolved.add(name)
      return found ?? `\${${name}}`
    })
  const fill = (one: unknown): unknown => {
    if (typeof one === 'string') return fillText(one, false)
    if (Array.isArray(one)) return one.map(fill)
    if (typeof one !== 'object' || one === null) return one
    return Object.fromEntries(Object.entries(one).map(([key, item]) => [fillText(key, true), fill(item)]))
  }
  return { value: fill(value), unresolved: [...unresolved].toSorted() }
}
