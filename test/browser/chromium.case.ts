/** One page in a headless Chromium, and what its script reports. Every name leads to this machine, so that a page can come from any host. */
import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** Errors: says what is missing. */
export function findChromium(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const path = folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isProgram)
  if (path === undefined)
    throw new Error('these tests need Chromium: npm run test:browser installs it where apt can be used')
  return path
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Opens the page and leaves the browser running until it is disposed. */
export async function openPage(url: string): Promise<AsyncDisposable> {
  const profile = await mkdtemp(join(tmpdir(), 'cao-chromium-'))
  const switches = [
    '--headless=new',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    // A sandbox of its own needs privileges that a container seldom has; the page is ours.
    '--no-sandbox',
    `--user-data-dir=${profile}`,
    '--host-resolver-rules=MAP rebound.example 127.0.0.2, MAP * 127.0.0.1, EXCLUDE localhost',
  ]
  // A group of its own: the browser is many processes, and all of them go with it.
  const browser = spawn(findChromium(), [...switches, url], {
    detached: true,
    stdio: 'ignore',
    env: { PATH: process.env['PATH'], HOME: profile, LANG: 'C.UTF-8' },
  })
  return {
    [Symbol.asyncDispose]: async () => {
      await end(browser)
      await rm(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    },
  }
}

async function end(browser: ChildProcess): Promise<void> {
  if (browser.pid === undefined || browser.exitCode !== null || browser.signalCode !== null) return
  const ended = new Promise((resolve) => browser.once('exit', resolve))
  process.kill(-browser.pid, 'SIGKILL')
  await ended
}
