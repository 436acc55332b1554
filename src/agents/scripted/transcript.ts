/**
 * The agent's own record of one conversation: a file with one JSON text a line, appended to and never rewritten.
 * A line is in the file before anything is told about it, so a reader that was told finds it.
 */
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

export type TranscriptType = 'session' | 'user' | 'assistant' | 'tool' | 'question' | 'interrupted' | 'error'

export type TranscriptLine = {
  readonly type: TranscriptType
  /** Of the line; a user line's id is told to hooks too. */
  readonly id: string
  /** Of the turn that it belongs to; '' for a session line. */
  readonly turn: string
  /** Milliseconds since 1970. */
  readonly at: number
  /** A user line holds exactly what was accepted. */
  readonly text: string
  /** On an assistant line: nothing more of this turn's answer follows. */
  readonly isFinal?: boolean
  readonly sessionId?: string
  readonly systemPrompt?: string
}

export class Transcript {
  readonly path: string

  constructor(path: string) {
    this.path = path
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  }

  /** Errors: those of the file system; an agent that can not keep its record ends. */
  append(line: TranscriptLine): void {
    appendFileSync(this.path, `${JSON.stringify(line)}\n`, { mode: 0o600 })
  }

  /** All whole lines, in order; empty when there is no file. */
  load(): readonly TranscriptLine[] {
    let text: string
    try {
      text = readFileSync(this.path, 'utf8')
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
      throw error
    }
    return text.split('\n').flatMap((line) => {
      const parsed = parseLine(line)
      return parsed === undefined ? [] : [parsed]
    })
  }
}

function parseLine(line: string): TranscriptLine | undefined {
  if (!line.startsWith('{') || !line.endsWith('}')) return undefined
  try {
    return JSON.parse(line) as TranscriptLine
  } catch (error) {
    // A line that was cut by a full disk or a kill; what follows it is whole again.
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
