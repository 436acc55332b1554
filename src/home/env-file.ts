/**
 * `.env` of the home: variables that a person keeps for profiles (`${NAME}`) and for the environment of agents. They may
 * be secrets: the file is its owner's alone, a fault names variables and never values. Read by Node's own parser of such files.
 */
import { parseEnv } from 'node:util'
import { AppError } from '../domain/errors.ts'
import { type HomeFiles, whileLocked } from './file-lock.ts'
import { readPrivateFile, writePrivateFile } from './private-file.ts'

/** Units: bytes. */
export const envFileBytesMax = 256 * 1_024
/** As for `--env`. Units: bytes. */
export const envValueBytesMax = 2_048

export type Variables = Readonly<Record<string, string>>

/** Empty when there is no file. Errors: BAD_REQUEST, TOO_LARGE. */
export async function readEnvFile(path: string): Promise<Variables> {
  const text = (await readPrivateFile(path, envFileBytesMax)) ?? ''
  const parsed = Object.entries(parseEnv(text.replace(/^\uFEFF/, '')))
  return Object.fromEntries(
    parsed.filter((entry): entry is [string, string] => isVariableName(entry[0]) && entry[1] !== undefined),
  )
}

/**
 * `before` runs when it is known that the change can be kept, and ends it by a fault of its own. Errors: BAD_REQUEST for a value that
 * such a file can not hold, TOO_LARGE, STORAGE_FULL; those of `change`, `before` and `whileLocked`.
 */
export const updateEnvFile = (
  files: HomeFiles,
  change: (variables: Variables) => Variables,
  before?: () => Promise<void>,
): Promise<void> =>
  whileLocked(files, async () => {
    const { envFile } = files.layout
    const text = formatEnvFile(change(await readEnvFile(envFile)))
    await before?.()
    await writePrivateFile(envFile, text)
  })

function formatEnvFile(variables: Variables): string {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${quote(name, value)}\n`)
  const text = `# Written by "cao env": variables for profiles and agents. Keep it private.\n${lines.join('')}`
  if (Buffer.byteLength(text) > envFileBytesMax)
    throw new AppError('TOO_LARGE', 'the variables are too many or too long')
  return text
}

export const isVariableName = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && name !== '__proto__'

/** Quotes that the parser takes off again, and nothing else: it knows no escape that works in all of them. */
function quote(name: string, value: string): string {
  if (Buffer.byteLength(value) > envValueBytesMax) {
    throw new AppError('BAD_REQUEST', `the value of ${name} has more than ${envValueBytesMax} bytes; keep it in a file`)
  }
  for (const mark of ["'", '"', '`']) {
    const quoted = `${mark}${value}${mark}`
    if (parseEnv(`${name}=${quoted}\nx=1\n`)[name] === value) return quoted
  }
  throw new AppError(
    'BAD_REQUEST',
    `the value of ${name} can not be kept: it holds all three kinds of quotes, CR or NUL`,
  )
}
