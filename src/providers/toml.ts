/** Values as TOML writes them on one line, for `-c key=value`. Pure. Source: TOML 1.0. */

/** JSON's strings are TOML's but for DEL, which TOML wants escaped, and for halves of characters, which it does not know. */
const formatText = (text: string): string => JSON.stringify(text.toWellFormed()).replaceAll('\u007f', '\\u007F')

const barePattern = /^[A-Za-z0-9_-]+$/
const formatKey = (key: string): string => (barePattern.test(key) ? key : formatText(key))

/** Errors: none; what TOML can not say (null, undefined, functions) is left out. */
export function formatToml(value: unknown): string {
  if (typeof value === 'string') return formatText(value)
  if (typeof value === 'boolean') return String(value)
  if (typeof value === 'number') return formatNumber(value)
  if (Array.isArray(value)) return `[${value.filter(isSayable).map(formatToml).join(', ')}]`
  if (typeof value !== 'object' || value === null) return '""'
  const fields = Object.entries(value).filter(([, each]) => isSayable(each))
  return `{${fields.map(([key, each]) => `${formatKey(key)} = ${formatToml(each)}`).join(', ')}}`
}

const isSayable = (value: unknown): boolean =>
  ['string', 'boolean', 'number', 'object'].includes(typeof value) && value !== null

function formatNumber(value: number): string {
  if (Number.isFinite(value)) return String(value)
  if (Number.isNaN(value)) return 'nan'
  return value > 0 ? 'inf' : '-inf'
}
