/**
 * `node scripts/conformance-report.mjs SINCE`: prints what the states suite found since then (milliseconds since 1970), and keeps the last
 * versions at which a whole run was right in src/protocol/last-green.ts and docs/versions.md.
 */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { main, root } from './project.mjs'

const folder = join(root, '.cache', 'conformance')
const rowsFile = join(root, 'src', 'protocol', 'last-green.ts')
const docFile = join(root, 'docs', 'versions.md')

await main(async () => {
  const results = readResults(Number(process.argv[2] ?? 0))
  for (const result of results) printResult(result)
  for (const tried of readDeliveries(Number(process.argv[2] ?? 0))) printDeliveries(tried)
  const { formatVersions, lastGreen } = await import('../src/protocol/last-green.ts')
  const rows = mergeRows(lastGreen, results)
  if (JSON.stringify(rows) === JSON.stringify(lastGreen)) return 0
  const text = readFileSync(rowsFile, 'utf8')
  const lines = rows.map((row) => `  ${toLiteral(row)},\n`).join('')
  writeFileSync(rowsFile, text.replace(/(lastGreen: readonly LastGreen\[\] = )\[[\s\S]*?\]\n/, `$1[\n${lines}]\n`))
  writeFileSync(docFile, formatVersions(rows))
  console.log('conformance: docs/versions.md has a new row')
  return 0
})

function readResults(sinceMs) {
  if (!existsSync(folder)) return []
  const names = readdirSync(folder).filter(
    (name) =>
      name.endsWith('.json') && !name.startsWith('deliveries-') && statSync(join(folder, name)).mtimeMs >= sinceMs,
  )
  return names.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')))
}

/** One list of tries for each CLI and version; of earlier runs too, where the run was resumed. */
function readDeliveries(sinceMs) {
  if (!existsSync(folder)) return []
  const names = readdirSync(folder).filter(
    (name) => /^deliveries-.*\.jsonl$/.test(name) && statSync(join(folder, name)).mtimeMs >= sinceMs,
  )
  return names.map((name) => ({
    name: name.replace(/^deliveries-|\.jsonl$/g, ''),
    tries: readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line)),
  }))
}

const quantile = (values, q) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(q * values.length))]

function printDeliveries({ name, tries }) {
  console.log(`\n${name}: deliveries`)
  for (const shape of new Set(tries.map((each) => each.shape))) {
    const own = tries.filter((each) => each.shape === shape)
    const right = own.filter(({ isRight }) => isRight)
    const proofs = [...new Set(right.map(({ proof }) => proof))].join(', ')
    const wrong = own.find(({ isRight }) => !isRight)
    console.log(
      `  ${right.length} of ${own.length}  ${shape.padEnd(26)} ${proofs}${wrong === undefined ? '' : `  WRONG: ${wrong.why}`}`,
    )
  }
  const times = tries.flatMap(({ isRight, fromIdleMs }) => (isRight && fromIdleMs !== null ? [fromIdleMs] : []))
  if (times.length === 0) return
  console.log(
    `  idle to confirmed: p50 ${quantile(times, 0.5)} ms, p95 ${quantile(times, 0.95)} ms, of ${times.length}`,
  )
}

function printResult({ provider, version, size, states, delays }) {
  console.log(`\n${provider} ${version} at ${size}`)
  for (const { name, isRight, why, trail } of states) {
    console.log(`  ${isRight ? 'right' : 'WRONG'}  ${name}${why === '' ? '' : `: ${why}`}`)
    for (const line of trail) console.log(`           ${line}`)
  }
  if (delays.length === 0) return
  console.log('  from the model to CAO, by source:')
  for (const { name, count, p50Ms, p95Ms } of delays.toSorted((a, b) => a.name.localeCompare(b.name))) {
    console.log(
      `    ${name.padEnd(22)} p50 ${String(p50Ms).padStart(5)} ms   p95 ${String(p95Ms).padStart(5)} ms   of ${count}`,
    )
  }
}

/** A row for each CLI and size that was wholly right; a newer run takes the place of the older one. */
function mergeRows(rows, results) {
  const green = results.filter(isWhollyRight).map(({ provider, version, size, states, at }) => ({
    provider,
    version,
    size,
    states: states.length,
    date: at.slice(0, 10),
  }))
  const key = ({ provider, size }) => `${provider} ${size}`
  const fresh = new Set(green.map(key))
  return [...rows.filter((row) => !fresh.has(key(row))), ...green].toSorted((a, b) => key(a).localeCompare(key(b)))
}

/** Also: none of the states was left out, as by a filter or a run that was cut off. */
function isWhollyRight({ isEssential, wanted, states }) {
  return !isEssential && states.length === wanted && states.length > 0 && states.every(({ isRight }) => isRight)
}

function toLiteral({ provider, version, size, states, date }) {
  return `{ provider: '${provider}', version: '${version}', size: '${size}', states: ${states}, date: '${date}' }`
}
