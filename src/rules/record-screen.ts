/**
 * A living screen as files of a fixture: `NAME.ansi` with attributes, `NAME.txt` without, `NAME.json` with what the text does not hold and
 * what the rules said of it. Secrets are covered; `cao rules test` reads all of it back.
 */
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '../domain/errors.ts'
import { stripEscapes } from './capture-file.ts'
import { maskSecrets } from './mask-secrets.ts'

export type RecordedScreen = {
  readonly provider: string
  readonly program: string
  readonly lines: readonly string[]
  readonly cols: number
  readonly rows: number
  readonly title: string
  readonly alternate: boolean
  readonly cursor: { readonly x: number; readonly y: number; readonly visible: boolean }
}

export type RecordRequest = {
  readonly screen: RecordedScreen
  /** Absolute; made if it is not there. */
  readonly dir: string
  /** Without an ending. */
  readonly name: string
  readonly variables: Readonly<Record<string, string | undefined>>
}

const nameText = /^[A-Za-z0-9][A-Za-z0-9._-]{0,80}$/

/** The paths that were written. Errors: BAD_REQUEST for a name, CONFLICT where there is such a recording, and what the disk refuses. */
export async function recordScreen({ screen, dir, name, variables }: RecordRequest): Promise<readonly string[]> {
  if (!nameText.test(name)) throw new AppError('BAD_REQUEST', `${JSON.stringify(name)} is no name for a recording`)
  const { provider, program, lines, cols, rows, title, alternate, cursor } = screen
  const mask = (text: string) => maskSecrets(text, variables)
  const styled = lines.map((line) => coverLine(line, mask)).join('\n')
  const facts = {
    provider,
    version: (await findVersion(program)) ?? null,
    cols,
    rows,
    title: mask(title),
    alternate,
    x: cursor.x,
    y: cursor.y,
    visible: cursor.visible,
  }
  const files = [
    { path: join(dir, `${name}.ansi`), content: `${styled}\n` },
    {
      path: join(dir, `${name}.txt`),
      content: `${styled
        .split('\n')
        .map((line) => stripEscapes(line).trimEnd())
        .join('\n')}\n`,
    },
    { path: join(dir, `${name}.json`), content: `${JSON.stringify(facts, null, 2)}\n` },
  ]
  await mkdir(dir, { recursive: true, mode: 0o700 })
  for (const { path, content } of files) await writeNew(path, content)
  return files.map(({ path }) => path)
}

/** A secret that is coloured piece by piece can not be covered in place: then the line loses its colours. */
function coverLine(line: string, mask: (text: string) => string): string {
  const plain = stripEscapes(line)
  const covered = mask(line)
  return mask(plain) === stripEscapes(covered) ? covered : mask(plain)
}

async function writeNew(path: string, content: string): Promise<void> {
  try {
    await writeFile(path, content, { flag: 'wx', mode: 0o600 })
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')) throw cause
    throw new AppError('CONFLICT', `${path} is there already: name another recording`, { cause })
  }
}

/** Of the npm package that a program lies in; undefined where there is none. */
async function findVersion(program: string): Promise<string | undefined> {
  let dir = dirname(await realpath(program).catch(() => program))
  for (;;) {
    const version = await readVersion(join(dir, 'package.json'))
    if (version !== undefined || dirname(dir) === dir) return version
    dir = dirname(dir)
  }
}

async function readVersion(path: string): Promise<string | undefined> {
  try {
    const { version } = JSON.parse(await readFile(path, 'utf8')) as { readonly version?: unknown }
    return typeof version === 'string' ? version : undefined
  } catch (error) {
    if (error instanceof SyntaxError || (error instanceof Error && 'code' in error)) return undefined
    throw error
  }
}
