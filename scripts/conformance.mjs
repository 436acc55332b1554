/**
 * `npm run conformance`: real CLIs, which it installs from npm at a version into `.cache/`, against a scripted model.
 *
 *   -- --cli PROVIDER[@VERSION] [--size 80x24]   one CLI through all its states (again for each --cli and --size)
 *   -- --all [--size 80x24]                      every CLI through all its states
 *   -- --deliveries [--cli …] [--times N] [--resume]   eight shapes of message into every CLI, N times each (3); with --resume only
 *                                                      those that are not known to be right yet
 *   -- --ci                                      the suites of four CLIs, and of their states the essential ones
 *   -- [vitest's arguments]                      all suites, or what they select
 *
 * Then it prints what was right and how fast each source told. A whole run of a CLI at its verified version that is all right is written
 * to docs/versions.md. The last line is `N passed, N failed`.
 */
import { attach } from './process.mjs'
import { main, Refusal, root } from './project.mjs'
import { ensureSetup } from './setup.mjs'
import { formatCount, runSuite } from './suite.mjs'

const ciSizes = ['80x24']
/** What `--ci` has time for. Gemini CLI is tried there by its states: on a busy machine it loses Enters that come soon after a start. */
const ciSuites = ['claude', 'claude-team', 'codex', 'codex-team', 'home', 'opencode', 'states']
const statesFile = 'test/conformance/states.test.ts'
const deliveriesFile = 'test/conformance/deliveries.test.ts'
const usage =
  'Usage: npm run conformance -- [--cli PROVIDER[@VERSION]]… [--size COLSxROWS]… | --all | --deliveries [--times N] [--resume] | --ci'

function readArgs(words) {
  const call = {
    clis: /** @type {string[]} */ ([]),
    sizes: /** @type {string[]} */ ([]),
    isAll: false,
    isDeliveries: false,
    isResume: false,
    times: '',
    isCi: false,
    rest: [],
  }
  const take = (name, next) => {
    if (next === undefined || next.startsWith('--')) throw new Refusal(`${name} takes a value. ${usage}`)
    return next
  }
  for (let at = 0; at < words.length; at++) {
    const [word, value] = words[at].split(/=(.*)/s)
    if (word === '--cli') call.clis.push(...take(word, value ?? words[++at]).split(','))
    else if (word === '--size') call.sizes.push(...take(word, value ?? words[++at]).split(','))
    else if (word === '--times') call.times = take(word, value ?? words[++at])
    else if (word === '--deliveries') call.isDeliveries = true
    else if (word === '--resume') call.isResume = true
    else if (word === '--all') call.isAll = true
    else if (word === '--ci') call.isCi = true
    else call.rest.push(words[at])
  }
  if (!/^(?:[1-9]\d{0,3})?$/.test(call.times)) throw new Refusal(`${call.times} is no number of times. ${usage}`)
  const bad = call.sizes.find((size) => !/^\d{2,3}x\d{2,3}$/.test(size))
  if (bad !== undefined) throw new Refusal(`${bad} is no size such as 80x24. ${usage}`)
  return call
}

/** What the states suite is asked for; `test/conformance/cli-rig.case.ts` reads it. */
function planEnv({ clis, sizes, isCi, times, isResume }) {
  const wanted = sizes.length > 0 ? sizes : isCi ? ciSizes : []
  return {
    ...process.env,
    ...(isCi ? { CI: 'true', CAO_CONFORMANCE_ESSENTIAL: '1' } : {}),
    ...(clis.length > 0 ? { CAO_CONFORMANCE_CLIS: clis.join(',') } : {}),
    ...(times === '' ? {} : { CAO_DELIVERIES_TIMES: times }),
    ...(isResume ? { CAO_DELIVERIES_RESUME: '1' } : {}),
    ...(wanted.length > 0 ? { CAO_CONFORMANCE_SIZES: wanted.join(',') } : {}),
  }
}

await main(async () => {
  const call = readArgs(process.argv.slice(2))
  const node = await ensureSetup()
  const isStatesOnly = !call.isDeliveries && (call.isAll || call.clis.length > 0)
  const files = [
    ...(isStatesOnly ? [statesFile] : []),
    ...(call.isDeliveries ? [deliveriesFile] : []),
    ...(call.isCi ? ciSuites.map((name) => `test/conformance/${name}.test.ts`) : []),
  ]
  const args = [...files, ...call.rest]
  const sinceMs = Date.now()
  const total = await runSuite(node, { mode: 'conformance', args, env: planEnv(call) })
  await attach(node, ['scripts/conformance-report.mjs', String(sinceMs)], { cwd: root })
  console.log(formatCount(total))
  return total.failed === 0 ? 0 : 1
})
