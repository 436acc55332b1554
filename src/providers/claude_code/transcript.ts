/**
 * Claude Code's transcript: one JSON object a line, appended to. Of its many kinds of records the prompts, the answers and
 * the marks of interruption are read; what sub-agents do is in files of their own. Pure, but for finding and reading the file.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TurnOutcome } from '../../domain/status.ts'
import { type Fields, fieldsOf, objectsOf, parseFields, textOf } from '../fields.ts'
import { isLocalCommand, unwrapPaste } from './prompt-text.ts'

export type TranscriptRecord =
  /** Taken as a prompt; or into the queue, while a turn ran. */
  | { readonly kind: 'prompt'; readonly text: string; readonly promptId: string | undefined }
  | { readonly kind: 'queued'; readonly text: string }
  | { readonly kind: 'answer'; readonly messageId: string; readonly text: string; readonly isError: boolean }
  /** A part of an answer that is no text: a tool is called, the turn goes on. */
  | { readonly kind: 'step'; readonly messageId: string }
  | { readonly kind: 'interrupted' }

export type TranscriptOutcome =
  | { readonly kind: 'read'; readonly records: readonly TranscriptRecord[] }
  | { readonly kind: 'missing' }

const interruptedPattern = /^\[Request interrupted by user/

/** A last line that is still being written is left out. */
export function parseTranscript(text: string): readonly TranscriptRecord[] {
  return text.split('\n').flatMap((line) => {
    const fields = line.startsWith('{') ? parseFields(line) : undefined
    return fields === undefined || fields['isSidechain'] === true ? [] : readRecord(fields)
  })
}

function readRecord(fields: Fields): readonly TranscriptRecord[] {
  switch (fields['type']) {
    case 'user':
      return fields['isMeta'] === true ? [] : readUser(fieldsOf(fields, 'message'), textOf(fields, 'promptId'))
    case 'assistant':
      return readAssistant(fieldsOf(fields, 'message'), fields['isApiErrorMessage'] === true)
    case 'queue-operation': {
      const text = fields['operation'] === 'enqueue' ? textOf(fields, 'content') : undefined
      return text === undefined ? [] : [{ kind: 'queued', text: unwrapPaste(text) }]
    }
    default:
      return []
  }
}

/** A prompt is a string, or blocks beside images; results of tools are blocks of their own kind. */
function readUser(message: Fields, promptId: string | undefined): readonly TranscriptRecord[] {
  const plain = textOf(message, 'content')
  const blocks = objectsOf(message, 'content').filter((block) => block['type'] === 'text')
  const texts = plain === undefined ? blocks.flatMap((block) => textOf(block, 'text') ?? []) : [plain]
  return texts.flatMap((text): readonly TranscriptRecord[] => {
    if (interruptedPattern.test(text)) return [{ kind: 'interrupted' }]
    return isLocalCommand(text) ? [] : [{ kind: 'prompt', text: unwrapPaste(text), promptId }]
  })
}

function readAssistant(message: Fields, isError: boolean): readonly TranscriptRecord[] {
  const messageId = textOf(message, 'id') ?? ''
  return objectsOf(message, 'content').flatMap((block): readonly TranscriptRecord[] => {
    if (block['type'] === 'tool_use') return [{ kind: 'step', messageId }]
    const text = block['type'] === 'text' ? textOf(block, 'text') : undefined
    return text === undefined ? [] : [{ kind: 'answer', messageId, text, isError }]
  })
}

export type LastTurn =
  | { readonly kind: 'none' }
  | { readonly kind: 'ended'; readonly outcome: TurnOutcome; readonly text: string }
  /** Nothing tells its end: it runs, or was interrupted before a word. */
  | { readonly kind: 'open' }

/** How the newest turn stands. `text` is all text of its last message. */
export function findLastTurn(records: readonly TranscriptRecord[]): LastTurn {
  const begin = records.findLastIndex((record) => record.kind === 'prompt')
  const turn = records.slice(begin + 1).filter((record) => record.kind !== 'queued')
  const last = turn.at(-1)
  if (last === undefined) return { kind: begin < 0 ? 'none' : 'open' }
  switch (last.kind) {
    case 'answer': {
      const texts = turn.flatMap((one) => (one.kind === 'answer' && one.messageId === last.messageId ? [one.text] : []))
      return { kind: 'ended', outcome: last.isError ? 'failed' : 'answered', text: texts.join('\n') }
    }
    case 'interrupted':
      return { kind: 'ended', outcome: 'interrupted', text: '' }
    case 'step':
    case 'prompt':
      return { kind: 'open' }
  }
}

export async function loadTranscript(path: string): Promise<TranscriptOutcome> {
  try {
    return { kind: 'read', records: parseTranscript(await readFile(path, 'utf8')) }
  } catch (error) {
    if (isAbsent(error)) return { kind: 'missing' }
    throw error
  }
}

/** The transcript of a conversation, wherever its project's folder is; undefined when it has none yet. */
export async function findTranscript(configDir: string, sessionId: string): Promise<string | undefined> {
  const projects = join(configDir, 'projects')
  for (const project of await listFolder(projects)) {
    const files = await listFolder(join(projects, project))
    if (files.includes(`${sessionId}.jsonl`)) return join(projects, project, `${sessionId}.jsonl`)
  }
  return undefined
}

async function listFolder(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path)
  } catch (error) {
    if (isAbsent(error)) return []
    throw error
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}
