/** The command line of the chaos run. Pure. */
import { parseArgs } from 'node:util'
import { AppError } from '../domain/errors.ts'

export type ChaosOptions = {
  readonly seed: number
  readonly durationMs: number
  readonly agents: number
  readonly hasFaults: boolean
  readonly help: boolean
}

export const agentsMax = 60
export const minutesMax = 24 * 60

export const chaosUsage = `npm run chaos -- [--seed N] [--minutes M] [--agents K] [--no-faults]

A team of scripted agents exchanges numbered messages and jobs in a home of its own, while servers, connections, agents
and tmux are killed, frozen and continued around it. At the end a checker that knows nothing of CAO's code reads the
agents' own records and the database, and says what was lost, doubled or claimed falsely. Linux only. Needs no root:
the disk is made full for the server alone, by a limit of one byte on the files it may write (prlimit --fsize).

  --seed N      what happens when, and to whom (1); the same seed plans the same run
  --minutes M   how long traffic and faults go on, fractions allowed (1)
  --agents K    how many agents take part (6), at most ${agentsMax}
  --no-faults   the same traffic in peace
`

/** Errors: BAD_REQUEST. */
export function parseChaosOptions(words: readonly string[]): ChaosOptions {
  const values = readWords(words)
  return {
    seed: readNumber('--seed', values.seed ?? '1', { least: 0, most: 2 ** 31, isWhole: true }),
    durationMs: Math.round(readNumber('--minutes', values.minutes ?? '1', { least: 0.1, most: minutesMax }) * 60_000),
    agents: readNumber('--agents', values.agents ?? '6', { least: 4, most: agentsMax, isWhole: true }),
    hasFaults: values['no-faults'] !== true,
    help: values.help === true,
  }
}

function readWords(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      options: {
        seed: { type: 'string' },
        minutes: { type: 'string' },
        agents: { type: 'string' },
        'no-faults': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new AppError('BAD_REQUEST', `${error.message}; --help shows the usage`)
  }
}

type Range = { readonly least: number; readonly most: number; readonly isWhole?: boolean }

function readNumber(flag: string, text: string, { least, most, isWhole = false }: Range): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  const fits = value >= least && value <= most && (!isWhole || Number.isInteger(value))
  if (fits) return value
  throw new AppError(
    'BAD_REQUEST',
    `${flag} is a ${isWhole ? 'whole ' : ''}number from ${least} to ${most}, not "${text}"`,
  )
}
