/** tmux: is one there that is new enough, and how to get it where apt can be used. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { capture } from '../process.mjs'
import { Refusal } from '../project.mjs'
import { noteTool } from './lock.mjs'

export const tmuxStep = {
  title: 'installing tmux',

  async missing() {
    const { code, output } = await capture('tmux', ['-V'], { limitMs: 10_000 })
    if (code === 127) return 'it is not there'
    if (code !== 0) return `tmux -V fails: ${output.trim()}`
    return isNewEnough(output) ? undefined : `${output.trim()} is older than 3.2a`
  },

  async fix() {
    const why = await tmuxStep.missing()
    const apt = await findApt()
    if (apt === undefined) {
      throw new Refusal(`CAO needs tmux 3.2a or newer (${why}): install it ${howToInstall()}, then run this again.`)
    }
    let result = await apt(['install', '-y', '--no-install-recommends', 'tmux'])
    if (result.code !== 0) {
      await apt(['update'])
      result = await apt(['install', '-y', '--no-install-recommends', 'tmux'])
    }
    if (result.code !== 0) {
      process.stderr.write(result.output)
      throw new Refusal(
        'CAO needs tmux 3.2a or newer, and apt-get install tmux failed (its output stands above): install tmux, then run this again.',
      )
    }
    const still = await tmuxStep.missing()
    if (still !== undefined) {
      throw new Refusal(
        `CAO needs tmux 3.2a or newer, and the one that apt-get installs does not do (${still}): install a newer one, then run this again.`,
      )
    }
  },
}

/** `tmux -V` prints `tmux 3.3a`, `tmux next-3.6` or `tmux master`; a build from master counts as new. */
export function isNewEnough(versionLine) {
  const match = /(\d+)\.(\d+)([a-z]?)/.exec(versionLine)
  if (match === null) return true
  const [major, minor, letter] = [Number(match[1]), Number(match[2]), match[3]]
  return major > 3 || (major === 3 && (minor > 2 || (minor === 2 && letter !== '')))
}

/** apt-get as root, or through sudo where that asks for no password. */
export async function findApt() {
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const limitMs = 5 * 60_000
  if (!isOnPath('apt-get')) return undefined
  if (process.getuid?.() === 0)
    return (args) => capture('apt-get', args, { limitMs, env: environment, onStart: noteTool })
  const sudo = await capture('sudo', ['-n', 'true'], { limitMs: 10_000 })
  if (sudo.code !== 0) return undefined
  return (args) =>
    capture('sudo', ['-n', 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', ...args], { limitMs, onStart: noteTool })
}

function howToInstall() {
  if (process.platform === 'darwin') return 'with "brew install tmux"'
  return isOnPath('apt-get')
    ? 'with "sudo apt-get install tmux"'
    : 'with your package manager (the package is called tmux)'
}

function isOnPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
