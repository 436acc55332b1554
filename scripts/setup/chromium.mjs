/** Chromium, for the tests in a real browser: is one there, and how to get it where apt can be used. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { Refusal, say } from '../project.mjs'
import { withSetupLock } from './lock.mjs'
import { findApt } from './tmux.mjs'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** Errors: a Refusal that says what to do. */
export async function ensureChromium() {
  if (isThere()) return
  const apt = await findApt()
  if (apt === undefined) {
    throw new Refusal(
      'These tests need Chromium: install the package chromium with your package manager, then run this again.',
    )
  }
  await withSetupLock(async () => {
    if (isThere()) return
    say('set-up: installing Chromium …')
    const install = ['install', '-y', '--no-install-recommends', 'chromium']
    let result = await apt(install)
    if (result.code !== 0) {
      await apt(['update'])
      result = await apt(install)
    }
    if (result.code === 0 && isThere()) return
    process.stderr.write(result.output)
    throw new Refusal(
      'These tests need Chromium, and apt-get install chromium failed (its output stands above): install it, then run this again.',
    )
  })
}

function isThere() {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .some((path) => {
      try {
        accessSync(path, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}
