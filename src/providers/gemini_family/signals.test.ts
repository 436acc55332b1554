/** The channels on real files, as the program writes them, and titles as it prints them. */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../async/clock-system.ts'
import { type MessageToken, trustId } from '../../domain/ids.ts'
import type { Binding } from '../../domain/terminal.ts'
import { silentLog } from '../../lib/log.ts'
import type { Fields } from '../fields.ts'
import type { Signal } from '../provider.ts'
import { formatBinding } from './binding.ts'
import type { ChatLayout } from './chat-files.ts'
import { FamilySignals } from './signals.ts'
import type { ChatRecord } from './turn.ts'

const limitMs = 10_000
const token = '7f3a12345678' as MessageToken
const waiting = (ms = limitMs) => ({ signal: AbortSignal.timeout(ms) })

/** Lines that are records as they are. */
const layoutOf = ({ recordsDir }: { readonly recordsDir: string }): ChatLayout => ({
  projectsDir: recordsDir,
  namePattern: /\.jsonl$/,
  newParser: () => ({ feed: (fields: Fields) => ('kind' in fields ? [fields as unknown as ChatRecord] : []) }),
  readSessionId: (name) => name.replace('.jsonl', ''),
})

describe('FamilySignals', () => {
  let folder: string
  let signals: FamilySignals
  let heard: Signal[]
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'cao-family-signals-'))
    heard = []
    signals = open(formatBinding({ recordsDir: folder, vendorSessionId: 'one', offsets: {} }))
  })
  afterEach(async () => {
    await signals[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  const open = (binding: Binding) =>
    new FamilySignals(
      {
        terminalId: trustId('1a2b3c4d'),
        cwd: '/home/dev/proj',
        privateDir: folder,
        binding,
        clock: systemClock,
        log: silentLog,
        emit: (signal) => heard.push(signal),
      },
      { title: 'Example', readTitle: (title) => (title === 'rest' ? 'ready' : 'working'), layoutOf },
    )
  const show = (title: string) => signals.handleOutput(Buffer.from(`\u001b]0;${title}\u0007`))

  let atMs = Date.now()
  function write(name: string, ...records: readonly object[]): void {
    const dir = join(folder, 'proj', 'chats')
    mkdirSync(dir, { recursive: true })
    appendFileSync(
      join(dir, `${name}.jsonl`),
      records.map((fields) => `${JSON.stringify({ ...fields, atMs: atMs++ })}\n`).join(''),
    )
  }
  const prompt = (text: string) => ({ kind: 'prompt', text })
  const said = (text: string) => ({ kind: 'said', id: text, text, hasCalls: false, input: 1, output: 2 })
  const ends = () =>
    heard.flatMap((signal) => (signal.kind === 'claim' && signal.claim.kind === 'turn_ended' ? [signal] : []))
  const bound = () => heard.flatMap((signal) => (signal.kind === 'bound' ? [signal.binding] : []))
  async function waitUntil(what: string, isSo: () => boolean): Promise<void> {
    const endMs = performance.now() + limitMs
    while (!isSo()) {
      if (performance.now() > endMs) throw new Error(`waited for ${what}, heard ${JSON.stringify(heard)}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  async function turn(name: string, text: string, answer: string): Promise<void> {
    const before = ends().length
    show('work')
    write(name, prompt(text), said(answer))
    await waitUntil('the prompt', () => heard.some((signal) => signal.kind === 'accepted' && signal.text === text))
    show('rest')
    await waitUntil('the end', () => ends().length > before)
  }

  it('tells a turn once, with its exact answer, and finds a message by its token', async () => {
    expect(await signals.findAccepted(token, waiting())).toBe('unknown')
    await turn('one', `[${token}] do it`, 'Done.')
    expect(ends()).toMatchObject([{ source: 'transcript', claim: { outcome: 'answered', answer: 'Done.' } }])
    expect(await signals.loadAnswer(waiting())).toMatchObject({
      kind: 'exact',
      text: 'Done.',
      cost: { outputTokens: 2 },
    })
    expect(await signals.findAccepted(token, waiting())).toBe('yes')
    expect(await signals.findAccepted('000000000000' as MessageToken, waiting())).toBe('no')
  })

  it('goes on after a restart where it was, and tells nothing twice', async () => {
    await turn('one', 'first', 'One.')
    const binding = bound().at(-1) ?? {}
    await signals[Symbol.asyncDispose]()
    heard = []
    signals = open(binding)
    await turn('one', 'second', 'Two.')
    const accepted = heard.flatMap((signal) => (signal.kind === 'accepted' ? [signal.text] : []))
    expect(accepted).toEqual(['second'])
    expect(await signals.loadAnswer(waiting())).toMatchObject({ text: 'Two.' })
  })

  it('follows a person into another conversation', async () => {
    await turn('one', 'first', 'One.')
    await turn('two', 'second', 'Two.')
    expect(bound().at(-1)).toMatchObject({ vendorSessionId: 'two' })
    expect(await signals.loadAnswer(waiting())).toMatchObject({ text: 'Two.' })
    expect(await signals.findAccepted('first' as MessageToken, waiting())).toBe('yes')
  })

  it('has no answer while there is no record, and none of a turn that was broken off', async () => {
    expect(await signals.loadAnswer(waiting(100))).toEqual({ kind: 'none', why: 'there is no record' })
    show('work')
    write('one', prompt('first'), { kind: 'cancelled' })
    await waitUntil('the prompt', () => heard.some(({ kind }) => kind === 'accepted'))
    show('rest')
    await waitUntil('the end', () => ends().length === 1)
    expect(ends()).toMatchObject([{ claim: { outcome: 'interrupted' } }])
    expect(await signals.loadAnswer(waiting())).toEqual({ kind: 'none', why: 'the turn has no answer: interrupted' })
  })
})
