/**
 * npm packages: `npm ci` when node_modules is not what package-lock.json says. npm writes its own record,
 * node_modules/.package-lock.json, as the last act of an installation; what we compared once is stamped, so that the
 * next look costs two small reads.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { capture } from '../process.mjs'
import { Refusal, root } from '../project.mjs'
import { noteTool } from './lock.mjs'

const lockFile = join(root, 'package-lock.json')
const modules = join(root, 'node_modules')
const recordFile = join(modules, '.package-lock.json')
const stampFile = join(modules, '.cao-stamp')

export const packagesStep = {
  title: 'installing npm packages',

  async missing() {
    if (!existsSync(recordFile)) return 'node_modules is not there or not complete'
    const stamp = currentStamp()
    if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return undefined
    const difference = firstDifference()
    if (difference !== undefined) return difference
    writeFileSync(stampFile, stamp)
    return undefined
  },

  async fix() {
    const args = ['ci', '--ignore-scripts', '--include=dev', '--include=optional', '--no-audit', '--no-fund']
    const { code, output } = await capture('npm', [...args, '--loglevel=error'], {
      cwd: root,
      env: { ...process.env, PATH: pathWithoutOurs() },
      limitMs: 15 * 60_000,
      onStart: noteTool,
    })
    if (code === 127) throw new Refusal('CAO needs npm to install its packages: install npm, then run this again.')
    if (code !== 0) {
      process.stderr.write(output)
      throw new Refusal(
        'npm ci failed (its output stands above): look whether the registry can be reached, then run this again.',
      )
    }
    const difference = firstDifference()
    if (difference !== undefined) throw new Refusal(`npm ci ended well, and yet ${difference}.`)
    writeFileSync(stampFile, currentStamp())
  },
}

/** npm must not run on the Node inside the folder that it is about to delete. */
function pathWithoutOurs() {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.filter((folder) => !folder.startsWith(modules)).join(delimiter)
}

function currentStamp() {
  const { mtimeMs, size } = statSync(recordFile)
  return `${createHash('sha256').update(readFileSync(lockFile)).digest('hex')} ${mtimeMs} ${size}\n`
}

/** The first package that is not as locked. Optional ones may be absent: they are for another platform. */
function firstDifference() {
  const locked = JSON.parse(readFileSync(lockFile, 'utf8')).packages
  const present = JSON.parse(readFileSync(recordFile, 'utf8')).packages
  for (const [path, entry] of Object.entries(locked)) {
    if (path === '') continue
    const installed = present[path]
    if (installed === undefined && !entry.optional) return `${path} is missing`
    if (installed === undefined) continue
    if (installed.version !== entry.version || installed.integrity !== entry.integrity)
      return `${path} is another version`
    if (!existsSync(join(root, path, 'package.json'))) return `${path} is gone`
  }
  return undefined
}
