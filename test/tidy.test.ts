/**
 * The rules of this code base that no compiler and no linter knows. Each rule is a pure function from the project's files to a list
 * of sentences, so that the second half of this file can show each rule a file that breaks it.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'

type File = { readonly path: string; readonly text: string }
type Architecture = {
  readonly bundledPackages: { readonly names: readonly string[] }
  readonly mayImport: Readonly<Record<string, readonly string[]>>
  readonly contractOnly: Readonly<Record<string, readonly string[] | string>>
}
type Import = { readonly from: File; readonly spec: string; readonly path: string | undefined }

const root = dirname(import.meta.dirname)
const foldersLeftOut = new Set(['node_modules', 'dist', '.cache', '.git', 'coverage'])
const textEndings = /\.(ts|mjs|js|json|md|sh|sql|yml|yaml|txt|conf|html|css)$/
const linesMax = 400
const testLinesMax = 1000

const files = readProject(root)
const sources = files.filter(isSource)
const architecture = JSON.parse(readFileSync(join(root, 'architecture.json'), 'utf8')) as Architecture

describe('the project', () => {
  test('the folders of src/ import only what architecture.json allows them', () => {
    expect(breachesOfMatrix(sources, architecture)).toEqual([])
  })

  test('outside its family and main/, only the contract files of a family are imported', () => {
    expect(breachesOfContracts(sources, architecture)).toEqual([])
  })

  test('the import matrix has no cycle', () => {
    expect(findCycle(new Map(Object.entries(architecture.mayImport)))).toBeUndefined()
  })

  test('no files import one another in a circle, not even for types or lazily', () => {
    expect(findCycle(graphOf(sources))).toBeUndefined()
  })

  test('programs import no tests, and no package that architecture.json does not name', () => {
    expect(foreignImports(sources, architecture.bundledPackages.names)).toEqual([])
  })

  test('no file is longer than one sitting can take in', () => {
    expect(tooLong(files)).toEqual([])
  })

  test('every source file says what it is, at its top or on its exports', () => {
    expect(undocumented(sources)).toEqual([])
  })

  test('no file or folder has a name that says nothing', () => {
    expect(emptyNames(files)).toEqual([])
  })

  test('nothing is left for later without saying so in the plan', () => {
    expect(leftovers(files)).toEqual([])
  })

  test('no test is skipped, singled out, or runs against a mock of our own modules', () => {
    expect(testsThatCheat(files)).toEqual([])
  })

  test('no file names a folder of the machine it was written on', () => {
    expect(machinePaths(files)).toEqual([])
  })

  test('the lock file and .npmrc name no registry', () => {
    expect(registries(files)).toEqual([])
  })

  test('only the system clock reads the time or sets a timer', () => {
    expect(ownTimers(sources)).toEqual([])
  })

  test('every folder of fixtures has NOTES on how they were captured', () => {
    expect(fixturesWithoutNotes(files)).toEqual([])
  })

  test('the programs in bin/ are one text', () => {
    const texts = files.filter((file) => file.path.startsWith('bin/')).map((file) => file.text)
    expect(texts.length).toBeGreaterThan(2)
    expect(new Set(texts).size).toBe(1)
  })

  test('README.md names the two commands', () => {
    const readme = files.find((file) => file.path === 'README.md')?.text ?? ''
    expect(['npm run demo', 'npm test'].filter((command) => !readme.includes(command))).toEqual([])
  })
})

describe('the rules see what they are for', () => {
  const tiny: Architecture = {
    bundledPackages: { names: [] },
    mayImport: { low: [], high: ['low', 'family'], family: ['low'], main: ['*'] },
    contractOnly: { comment: '', family: ['contract.ts'] },
  }
  const file = (path: string, text: string): File => ({ path, text })

  test.each([
    ['a value', "import { a } from '../high/a.ts'"],
    ['a type', "import type { A } from '../high/a.ts'"],
    ['something re-exported', "export * from '../high/a.ts'"],
    ['several lines', "import {\n  a,\n  b,\n} from '../high/a.ts'"],
    ['a lazy import', "await import('../high/a.ts')"],
    ['a type in place', "let a: import('../high/a.ts').A"],
    ['a side effect', "import '../high/a.ts'"],
  ])('an import against the matrix: %s', (_what, text) => {
    expect(breachesOfMatrix([file('src/low/x.ts', text)], tiny)).toEqual([
      'src/low/x.ts: low may not import high (../high/a.ts)',
    ])
  })

  test('a folder that the matrix does not know', () => {
    expect(breachesOfMatrix([file('src/new/x.ts', '')], tiny)).toEqual([
      'src/new/x.ts: architecture.json does not name new/',
    ])
  })

  test('a lazy import of something computed', () => {
    expect(breachesOfMatrix([file('src/low/x.ts', 'await import(name)')], tiny)).toEqual([
      'src/low/x.ts: imports something computed',
    ])
  })

  test('an implementation taken where the contract is meant, but not in the family or main/', () => {
    const into = (path: string) =>
      file(path, "import { a } from '../family/real/a.ts'\nimport { b } from '../family/contract.ts'")
    expect(breachesOfContracts([into('src/high/x.ts'), into('src/family/x.ts'), into('src/main/x.ts')], tiny)).toEqual([
      'src/high/x.ts: imports family/real/a.ts; outside family/ only contract.ts',
    ])
  })

  test('a circle of files through a type', () => {
    const a = file('src/low/a.ts', "import type { B } from './b.ts'")
    const b = file('src/low/b.ts', "import { a } from './a.ts'")
    expect(findCycle(graphOf([a, b]))).toBe('src/low/a.ts → src/low/b.ts → src/low/a.ts')
  })

  test('a package from nowhere, and a test in a program', () => {
    const text =
      "import { readFile } from 'node:fs'\nimport { z } from 'zod'\nimport { x } from 'left-pad/x'\nimport './y.test.ts'"
    expect(foreignImports([file('src/low/x.ts', text)], ['zod'])).toEqual([
      'src/low/x.ts: left-pad is not among the dependencies',
      'src/low/x.ts: imports a test (./y.test.ts)',
    ])
  })

  test('a long file, an undocumented one, an empty name', () => {
    const long = file('src/low/x.ts', '\n'.repeat(linesMax + 1))
    expect([tooLong([long]).length, undocumented([long]).length]).toEqual([1, 1])
    const named = [`src/${'utils'}/x.ts`, `src/low/${'helpers'}.ts`, `src/low/pane-${'manager'}.ts`, 'src/low/fine.ts']
    expect(emptyNames(named.map((path) => file(path, '')))).toHaveLength(3)
  })

  test('a marker, a skipped test, a mock, a path of a machine, a registry, a timer', () => {
    expect(leftovers([file('src/low/x.ts', `// ${'TO'}DO later`)])).toHaveLength(1)
    const cheats = ['test.sk' + "ip('x')", 'describe.on' + "ly('x')", 'vi.mo' + "ck('./x.ts')", 'test.to' + "do('x')"]
    expect(testsThatCheat(cheats.map((text) => file('src/low/x.test.ts', text)))).toHaveLength(4)
    expect(
      machinePaths([file('docs/x.md', `see /${'work'}/main`), file('docs/y.md', 'https://a.b/work/x')]),
    ).toHaveLength(1)
    expect(registries([file('package-lock.json', '"reso' + 'lved": "https://x"')])).toHaveLength(1)
    const timers = [
      'Date.now()',
      'setTimeout(f, 1)',
      'performance.now()',
      "import { x } from 'node:timers/promises'",
      'new Date()',
    ]
    expect(ownTimers(timers.map((text) => file('src/low/x.ts', text)))).toHaveLength(timers.length)
    expect(ownTimers([file('src/low/x.ts', '/** As Date.now does. */\n// setTimeout(1)')])).toEqual([])
  })

  test('fixtures without notes', () => {
    const paths = ['src/low/fixtures/a/NOTES.md', 'src/low/fixtures/a/b/screen.txt', 'src/low/fixtures/c/screen.txt']
    expect(fixturesWithoutNotes(paths.map((path) => file(path, '')))).toEqual(['src/low/fixtures/c: no NOTES'])
  })
})

function readProject(folder: string): readonly File[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return foldersLeftOut.has(entry.name) ? [] : readProject(path)
    const name = relative(root, path)
    const isText = textEndings.test(entry.name) || !entry.name.includes('.') || name.startsWith('.')
    return entry.isFile() ? [{ path: name, text: isText ? readFileSync(path, 'utf8') : '' }] : []
  })
}

/** What runs in programs: tests and the cases of conformance suites may take any real part of the project. */
function isSource(file: File): boolean {
  return file.path.startsWith('src/') && file.path.endsWith('.ts') && !isTest(file.path)
}

function isTest(path: string): boolean {
  return /\.(test|case)\.ts$/.test(path)
}

function importsOf(file: File): readonly Import[] {
  const code = withoutComments(file.text)
  const found = [
    ...code.matchAll(/\b(?:import|export)\b[^'"`;()]*?\bfrom\s*(['"])([^'"]+)\1/g),
    ...code.matchAll(/\bimport\s*\(?\s*(['"])([^'"]+)\1/g),
  ]
  return found.map(([, , spec = '']) => ({
    from: file,
    spec,
    path: spec.startsWith('.') ? join(dirname(file.path), spec) : undefined,
  }))
}

/** Comments blanked out. Rough on purpose: a `//` counts only after white space, so that URLs in strings survive. */
function withoutComments(text: string): string {
  return text.replace(/(^|\s)\/\*[\s\S]*?\*\//g, '$1').replace(/(^|\s)\/\/.*$/gm, '$1')
}

function folderOf(path: string): string {
  return path.split('/')[1] ?? ''
}

function breachesOfMatrix(all: readonly File[], { mayImport }: Architecture): readonly string[] {
  return all.flatMap((file) => {
    const folder = folderOf(file.path)
    const allowed = mayImport[folder]
    if (allowed === undefined) return [`${file.path}: architecture.json does not name ${folder}/`]
    const computed = /\bimport\s*\(\s*[^'"\s]/.test(withoutComments(file.text))
      ? [`${file.path}: imports something computed`]
      : []
    const wrong = importsOf(file).filter(({ path }) => {
      if (path === undefined || folderOf(path) === folder) return false
      return !path.startsWith('src/') || !(allowed.includes('*') || allowed.includes(folderOf(path)))
    })
    return [
      ...computed,
      ...wrong.map(({ spec, path = '' }) => `${file.path}: ${folder} may not import ${folderOf(path)} (${spec})`),
    ]
  })
}

function breachesOfContracts(all: readonly File[], { contractOnly }: Architecture): readonly string[] {
  const families = Object.entries(contractOnly).filter(([, contracts]) => typeof contracts !== 'string')
  return all.flatMap(importsOf).flatMap(({ from, path }) =>
    families
      .filter(([family]) => path?.startsWith(`src/${family}/`) && ![family, 'main'].includes(folderOf(from.path)))
      .filter(([family, contracts]) => !contracts.includes(path?.slice(`src/${family}/`.length) ?? ''))
      .map(([family, contracts]) => {
        const names = (contracts as readonly string[]).join(', ')
        return `${from.path}: imports ${path?.slice('src/'.length)}; outside ${family}/ only ${names}`
      }),
  )
}

function graphOf(all: readonly File[]): ReadonlyMap<string, readonly string[]> {
  return new Map(all.map((file) => [file.path, importsOf(file).flatMap(({ path }) => path ?? [])]))
}

/** The first circle, written as a path; undefined when there is none. */
function findCycle(graph: ReadonlyMap<string, readonly string[]>): string | undefined {
  const done = new Set<string>()
  const visit = (node: string, trail: readonly string[]): string | undefined => {
    if (trail.includes(node)) return [...trail.slice(trail.indexOf(node)), node].join(' → ')
    if (done.has(node)) return undefined
    for (const next of graph.get(node) ?? []) {
      const cycle = visit(next, [...trail, node])
      if (cycle !== undefined) return cycle
    }
    done.add(node)
    return undefined
  }
  for (const node of graph.keys()) {
    const cycle = visit(node, [])
    if (cycle !== undefined) return cycle
  }
  return undefined
}

function foreignImports(all: readonly File[], dependencies: readonly string[]): readonly string[] {
  return all.flatMap(importsOf).flatMap(({ from, spec, path }) => {
    if (path !== undefined) return isTest(path) ? [`${from.path}: imports a test (${spec})`] : []
    if (spec.startsWith('node:')) return []
    const name = spec
      .split('/')
      .slice(0, spec.startsWith('@') ? 2 : 1)
      .join('/')
    return dependencies.includes(name) ? [] : [`${from.path}: ${name} is not among the dependencies`]
  })
}

function tooLong(all: readonly File[]): readonly string[] {
  return all
    .filter(({ path }) => /\.(ts|mjs)$/.test(path))
    .map(({ path, text }) => {
      const max = isTest(path) || /^(test|bench)\//.test(path) ? testLinesMax : linesMax
      return { path, max, lines: text.trimEnd() === '' ? text.length : text.trimEnd().split('\n').length }
    })
    .filter(({ lines, max }) => lines > max)
    .map(({ path, lines, max }) => `${path}: ${lines} lines, at most ${max}`)
}

function undocumented(all: readonly File[]): readonly string[] {
  return all
    .filter(({ text }) => !/^(#!.*\n)?\s*(\/\*\*|\/\/)/.test(text) && !/\*\/\s*export\b/.test(text))
    .map(({ path }) => `${path}: no header, and no docstring on an export`)
}

function emptyNames(all: readonly File[]): readonly string[] {
  const banned = /^(utils?|common|helpers?|managers?|data|info|misc)$/
  return all
    .filter(({ path }) => /^(src|test|scripts|bench)\//.test(path) && !path.includes('/fixtures/'))
    .filter(({ path }) => {
      const parts = path.split('/')
      const words = (parts.at(-1) ?? '').split('.')[0]?.split('-') ?? []
      return parts.slice(0, -1).some((part) => banned.test(part)) || banned.test(words.at(-1) ?? '')
    })
    .map(({ path }) => `${path}: what is in it?`)
}

function leftovers(all: readonly File[]): readonly string[] {
  const marker = new RegExp(String.raw`\b(${['TO' + 'DO', 'FIX' + 'ME', 'X'.repeat(3)].join('|')})\b`)
  return linesWith(all.filter(isOurText), marker)
}

function testsThatCheat(all: readonly File[]): readonly string[] {
  const cheat = /\b(vi|jest)\.(mock|doMock)\(|\b(test|it|describe|suite)\b[\w.]*\.(skip|only|todo|skipIf|runIf|fails)\b/
  return linesWith(
    all.filter(({ path }) => path.endsWith('.ts')),
    cheat,
  )
}

function machinePaths(all: readonly File[]): readonly string[] {
  // `/home/dev` is the placeholder of our captures.
  return linesWith(
    all.filter(({ path }) => path !== 'package-lock.json'),
    /(?<![\w.~$}-])\/(?:work|home(?!\/dev\b)|root)\/\w/,
  )
}

function registries(all: readonly File[]): readonly string[] {
  return linesWith(
    all.filter(({ path }) => path === 'package-lock.json' || path === '.npmrc'),
    /"resolved": "http|^\s*(@[\w-]+:)?registry\s*=/,
  )
}

function ownTimers(all: readonly File[]): readonly string[] {
  const others = all.filter(({ path }) => path !== 'src/async/clock-system.ts')
  return linesWith(
    others.map(({ path, text }) => ({ path, text: withoutComments(text) })),
    /\b(Date\.now|performance\.now|new Date\(\)|setTimeout|setInterval)\b|new Date\(\)|['"]node:timers/,
  )
}

function fixturesWithoutNotes(all: readonly File[]): readonly string[] {
  const folders = new Set(all.filter(({ path }) => /\/fixtures\/.*\//.test(path)).map(({ path }) => dirname(path)))
  const noted = all.filter(({ path }) => /\/NOTES[^/]*$/.test(path)).map(({ path }) => dirname(path))
  const isNoted = (folder: string) => noted.some((above) => folder === above || folder.startsWith(`${above}/`))
  return [...folders].filter((folder) => !isNoted(folder)).map((folder) => `${folder}: no NOTES`)
}

/** What a program showed or a licence says is not our text; what a capture may name of its machine is checked all the same. */
function isOurText({ path }: File): boolean {
  return !['package-lock.json', 'LICENSE'].includes(path) && !/\/fixtures\/.*\.(txt|jsonl?|ansi)$/.test(path)
}

function linesWith(all: readonly File[], pattern: RegExp): readonly string[] {
  return all.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  )
}
