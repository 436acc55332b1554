/**
 * Every id of CAO as a branded type, and the only functions that make or accept one.
 * Shapes that outsiders see follow upstream: 8 hex digits for a terminal, `cao-` before a session name.
 */
import type { Brand } from '../lib/brand.ts'

export type TerminalId = Brand<string, 'TerminalId'>
export type SessionName = Brand<string, 'SessionName'>
/** Row number of a message, as upstream's `message_id`. */
export type MessageId = Brand<number, 'MessageId'>
/** 12 hex digits that stand in the header of a typed message and are searched for in the agent's own records. */
export type MessageToken = Brand<string, 'MessageToken'>
export type JobId = Brand<string, 'JobId'>
export type QuestionId = Brand<string, 'QuestionId'>
/** One life of a backend server; terminals of another life are lost. */
export type InstanceId = Brand<string, 'InstanceId'>

/** Lower-case hex digits, as many as asked; supplied by `main/` from the system's random source. */
export type RandomHex = (digits: number) => string

const terminalIdPattern = /^[a-f0-9]{8}$/
const sessionNamePattern = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/
export const sessionPrefix = 'cao-'

export const makeTerminalId = (random: RandomHex): TerminalId => random(8) as TerminalId
export const makeMessageToken = (random: RandomHex): MessageToken => random(12) as MessageToken
export const makeJobId = (random: RandomHex): JobId => `job-${random(16)}` as JobId
export const makeQuestionId = (random: RandomHex): QuestionId => `q-${random(8)}` as QuestionId
export const makeInstanceId = (random: RandomHex): InstanceId => random(16) as InstanceId
export const makeSessionName = (random: RandomHex): SessionName => `${sessionPrefix}${random(8)}` as SessionName

export function parseTerminalId(text: string): TerminalId | undefined {
  return terminalIdPattern.test(text) ? (text as TerminalId) : undefined
}

/** Adds the `cao-` prefix where it is missing; undefined when nothing stands behind it or the whole is no legal name (letters, digits, `_`, `-`, at most 64). */
export function parseSessionName(text: string): SessionName | undefined {
  const full = text.startsWith(sessionPrefix) ? text : `${sessionPrefix}${text}`
  return full !== sessionPrefix && sessionNamePattern.test(full) ? (full as SessionName) : undefined
}

export function parseJobId(text: string): JobId | undefined {
  return /^job-[a-f0-9]{16}$/.test(text) ? (text as JobId) : undefined
}

export function parseQuestionId(text: string): QuestionId | undefined {
  return /^q-[a-f0-9]{8}$/.test(text) ? (text as QuestionId) : undefined
}

/** For rows read back from the store, which were checked when written. */
export const trustMessageId = (value: number): MessageId => value as MessageId
export const trustId = <T extends Brand<string, string>>(value: string): T => value as T
