/**
 * The bundle: each program of src/main becomes dist/NAME.mjs, a few lines that switch Node's compile cache on and load
 * dist/NAME.main.mjs; what programs share and what they import lazily lies beside it in chunks. The migrations are copied to
 * dist/migrations. All of it lies flat in dist/, so that `new URL('./migrations/', import.meta.url)` holds in any chunk.
 * A build is written aside and renamed into place, entry files last, so that a program started meanwhile finds one
 * build or the other. Chunks of earlier builds stay for a day, for the programs that run from them.
 */
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheFolder, distFolder, formatSeconds, main, Refusal, root, say } from './project.mjs'
import { withSetupLock } from './setup/lock.mjs'

const programs = [
  'cao',
  'cao-server',
  'cao-mcp-server',
  'cao-ops-mcp-server',
  'scripted-agent',
  'scripted-model',
  'demo',
  'chaos',
]
const migrationsFolder = join(root, 'src', 'store', 'sqlite', 'migrations')
const stampFile = join(distFolder, '.stamp')
const licencesFile = 'third-party-licences.txt'
const oldChunkMs = 24 * 3600_000

export const bundleStep = {
  title: 'building the programs',

  async missing() {
    if (!existsSync(stampFile)) return 'dist/ is not there'
    return readFileSync(stampFile, 'utf8') === fingerprint() ? undefined : 'the sources are newer'
  },

  async fix() {
    const stamp = fingerprint()
    await bundle()
    writeFileSync(stampFile, stamp)
  },
}

/** Changes whenever a file that the bundle is made of may have changed: names, times and sizes, not contents. */
function fingerprint() {
  const hash = createHash('sha256')
  const add = (path) => {
    const { mtimeMs, size } = statSync(path)
    hash.update(`${relative(root, path)} ${mtimeMs} ${size}\n`)
  }
  const files = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|sql|json|sh)$/.test(entry.name) && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
  for (const path of files.toSorted()) add(path)
  for (const name of ['package.json', 'package-lock.json', 'scripts/build.mjs']) add(join(root, name))
  return hash.digest('hex')
}

async function bundle() {
  const built = programs.filter((name) => existsSync(join(root, 'src', 'main', `${name}.ts`)))
  const aside = join(cacheFolder, 'build')
  rmSync(aside, { recursive: true, force: true })
  mkdirSync(aside, { recursive: true })
  if (built.length > 0) await runEsbuild(built, aside)
  if (existsSync(migrationsFolder)) cpSync(migrationsFolder, join(aside, 'migrations'), { recursive: true })
  for (const name of built) writeFileSync(join(aside, `${name}.mjs`), entryText(name))
  install(aside, built)
}

async function runEsbuild(built, outdir) {
  const esbuild = await import('esbuild')
  try {
    const { metafile } = await esbuild.build({
      metafile: true,
      absWorkingDir: root,
      entryPoints: Object.fromEntries(built.map((name) => [`${name}.main`, `src/main/${name}.ts`])),
      outdir,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node24',
      outExtension: { '.js': '.mjs' },
      chunkNames: 'chunk-[hash]',
      logLevel: 'silent',
      // Its export for Node is CommonJS, which loses its names under a lazy import of a bundle.
      alias: { yaml: join(root, 'node_modules', 'yaml', 'browser', 'index.js') },
      // Packages in CommonJS call require for Node's own modules.
      banner: {
        js: "import { createRequire as __createRequire } from 'node:module'\nconst require = __createRequire(import.meta.url)",
      },
    })
    writeFileSync(join(outdir, licencesFile), licencesOf(Object.keys(metafile.inputs)))
  } catch (error) {
    const messages = await esbuild.formatMessages(error.errors ?? [], {
      kind: 'error',
      color: process.stderr.isTTY === true,
    })
    throw new Refusal(
      `${messages.join('') || error.message}The programs could not be built: mend the sources that are named above.`,
    )
  } finally {
    await esbuild.stop()
  }
}

/** Their licences ask that they go along with what is bundled. */
function licencesOf(inputs) {
  const packages = new Set(inputs.flatMap((path) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []))
  return [...packages]
    .toSorted((one, other) => one.localeCompare(other))
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
      const files = readdirSync(join(root, folder)).filter((file) => /^licen[cs]e/i.test(file))
      const texts = files.map((file) => readFileSync(join(root, folder, file), 'utf8').trim())
      return `${name} ${version} (${license})\n\n${texts.join('\n\n')}\n`
    })
    .join(`\n${'-'.repeat(80)}\n\n`)
}

function entryText(name) {
  return `import { enableCompileCache } from 'node:module'

enableCompileCache(import.meta.dirname + '/compile-cache')
await import('./${name}.main.mjs')
`
}

function install(aside, built) {
  mkdirSync(distFolder, { recursive: true })
  const entries = new Set(built.flatMap((name) => [`${name}.mjs`, `${name}.main.mjs`]))
  const names = readdirSync(aside)
  const chunks = names.filter((name) => !entries.has(name) && name !== 'migrations')
  for (const name of chunks) renameSync(join(aside, name), join(distFolder, name))
  if (names.includes('migrations'))
    cpSync(join(aside, 'migrations'), join(distFolder, 'migrations'), { recursive: true })
  for (const name of built) {
    renameSync(join(aside, `${name}.main.mjs`), join(distFolder, `${name}.main.mjs`))
    renameSync(join(aside, `${name}.mjs`), join(distFolder, `${name}.mjs`))
  }
  writeFileSync(join(distFolder, '.npmignore'), packedOnly([...chunks, ...entries]))
  const now = Date.now()
  for (const name of readdirSync(distFolder)) {
    const path = join(distFolder, name)
    if (name.startsWith('chunk-') && !chunks.includes(name) && now - statSync(path).mtimeMs > oldChunkMs) rmSync(path)
  }
  dropOldCode(join(distFolder, 'compile-cache'))
  rmSync(aside, { recursive: true, force: true })
}

/** What of dist/ belongs into the package: this build, without what only a checkout runs. */
function packedOnly(names) {
  const packed = names.filter((name) => !name.startsWith('chaos.') && name !== 'chaos.mjs')
  return `${['*', ...packed.map((name) => `!${name}`)].join('\n')}\n`
}

/** Compiled code of builds that are gone: nothing else ever empties Node's compile cache. */
function dropOldCode(folder) {
  if (!existsSync(folder)) return
  const now = Date.now()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name)
    if (entry.isFile() && now - statSync(path).mtimeMs > oldChunkMs) rmSync(path, { force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    const startedAt = performance.now()
    await withSetupLock(() => bundleStep.fix())
    say(`build: done in ${formatSeconds(performance.now() - startedAt)}`)
  })
}
