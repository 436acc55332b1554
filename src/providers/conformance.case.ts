/**
 * What any Provider must do with its real program running in a real terminal. An implementation calls `describeProvider`
 * from a test file with its provider, a way to open a backend, and messages that make its agent do known things; it gets
 * the same suite as every other. What a provider has no capability for is not asked of it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TerminalBackend } from '../backend/backend.ts'
import type { MessageToken } from '../domain/ids.ts'
import { formatHeader } from '../domain/message.ts'
import type { Size } from '../screen/snapshot.ts'
import type { Provider, Signal } from './provider.ts'
import { RunningAgent } from './running-agent.case.ts'

export type ProviderCase = {
  readonly provider: Provider
  /** Opens a backend of this suite's own, ensured. */
  readonly openBackend: () => Promise<TerminalBackend>
  /** Ends what `openBackend` opened, with everything on it. */
  readonly closeBackend: (backend: TerminalBackend) => Promise<void>
  /** Environment of the launching client, after the allow-list. */
  readonly clientEnv: Readonly<Record<string, string>>
  /** Of the profile; undefined: as the program's own settings say. */
  readonly permissionMode?: string
  /** For each single wait, where the usual is too short. Units: ms. */
  readonly stepLimitMs?: number
  readonly messages: {
    /** Answered with exactly this text. */
    readonly reply: (text: string) => string
    /** Keeps the agent at work for at least ten seconds. */
    readonly slow: string
    /** Makes it ask for permission; undefined when it never does. */
    readonly permission: string | undefined
    /** Makes it ask a question with these options; undefined when it can not. */
    readonly question:
      | { readonly message: string; readonly text: string; readonly options: readonly string[] }
      | undefined
    /** Answered with a text that looks like the program's own prompt. */
    readonly imitation: string | undefined
  }
}

const sizes: readonly Size[] = [
  { cols: 80, rows: 24 },
  { cols: 200, rows: 50 },
]
const answerText = 'first line\n\n  indented, "quoted", 你好 😀\nlast line'
let tokens = 0xa0_0000_0000
const makeToken = (): MessageToken => (tokens++).toString(16).padStart(12, '0') as MessageToken

export function describeProvider(name: string, given: ProviderCase): void {
  const { provider, messages } = given
  const has = (capability: 'proof-of-body' | 'exact-answer' | 'resume'): boolean =>
    provider.capabilities.has(capability)
  const announcesEnd = Object.values(provider.announces).some((kinds) => kinds.includes('turn_ended'))

  describe(`provider ${name}`, () => {
    let backend: TerminalBackend
    beforeAll(async () => {
      backend = await given.openBackend()
    })
    afterAll(() => given.closeBackend(backend))
    const start = (size: Size) => RunningAgent.start({ ...given, backend, size })

    test.each(sizes)('at $cols x $rows: becomes ready, and its composer is read, cleared and sent', async (size) => {
      await using agent = await start(size)
      await agent.waitForReady()
      expect((await agent.read()).composer).toEqual({ kind: 'empty' })

      await agent.paste('a draft of one line')
      const draft = await agent.waitForReading('the draft', (reading) => reading.composer.kind === 'draft')
      expect(draft.composer).toMatchObject({ text: 'a draft of one line' })
      await agent.press(provider.quirks.clear)
      await agent.waitForReading('an empty composer', (reading) => reading.composer.kind === 'empty')

      await agent.send(messages.reply('short'))
      await agent.waitForEnd('answered')
      await agent.waitForReady()
    })

    test('tells that it took a message, that the turn ended, and the exact answer', async () => {
      await using agent = await start({ cols: 80, rows: 24 })
      await agent.waitForReady()
      const [token, other] = [makeToken(), makeToken()]
      const header = formatHeader({ token, kind: 'assign', senderId: '1a2b3c4d' })
      const text = `${header}\n${messages.reply(answerText)}`
      await agent.send(text)
      await agent.waitForEnd('answered')
      if (has('exact-answer')) {
        expect(await agent.loadAnswer()).toMatchObject({ kind: 'exact', text: answerText })
      }
      if (has('proof-of-body')) {
        expect(await agent.findAccepted(token)).toBe('yes')
        expect(await agent.findAccepted(other)).toBe('no')
      }
      const accepted = agent.heard.filter((signal) => signal.kind === 'accepted')
      expect(accepted.every((signal) => signal.text.includes(token))).toBe(true)
    })

    test('takes a large paste as one message', async () => {
      await using agent = await start({ cols: 80, rows: 24 })
      await agent.waitForReady()
      const token = makeToken()
      const body = `${messages.reply('got it all')}\n${'prose that fills the line up to its end\n'.repeat(60)}`
      await agent.send(`${formatHeader({ token, kind: 'send_message', senderId: 'user' })}\n${body}`)
      await agent.waitForEnd('answered')
      if (has('exact-answer')) expect(await agent.loadAnswer()).toMatchObject({ text: 'got it all' })
      if (has('proof-of-body')) expect(await agent.findAccepted(token)).toBe('yes')
    })

    test('is seen at work, and can be interrupted', async () => {
      await using agent = await start({ cols: 200, rows: 50 })
      await agent.waitForReady()
      await agent.send(messages.slow)
      // Some know nothing of a prompt that is broken off before they have taken it.
      const isTaken = (heard: readonly Signal[]) => heard.some((signal) => signal.kind === 'accepted')
      if (has('proof-of-body')) await agent.waitForSignal('the message as taken', isTaken)
      await agent.waitForReading('work', (reading) => reading.claim?.kind === 'busy')
      await agent.interrupt()
      if (announcesEnd) await agent.waitForEnd('interrupted')
      await agent.waitForReady({ isClearing: true })
      await agent.send(messages.reply('and goes on'))
      await agent.waitForEnd('answered')
      if (has('exact-answer')) expect(await agent.loadAnswer()).toMatchObject({ text: 'and goes on' })
    })

    const testIf = (given: unknown) => (given === undefined || given === false ? undefined : test)
    testIf(messages.permission)?.each(sizes)(
      'at $cols x $rows: a permission prompt is seen with its options, and answered',
      async (size) => {
        await using agent = await start(size)
        await agent.waitForReady()
        await agent.send(messages.permission ?? '')
        const question = await agent.waitForQuestion('permission')
        expect(question.options.length).toBeGreaterThan(1)
        await agent.answer(question, question.options[0] ?? '')
        await agent.waitForEnd('answered')
        await agent.waitForReady()
      },
    )

    testIf(messages.question)?.('a question is seen with its options, and answered', async () => {
      const asked = messages.question
      await using agent = await start({ cols: 80, rows: 24 })
      await agent.waitForReady()
      await agent.send(asked?.message ?? '')
      const question = await agent.waitForQuestion('question')
      expect(question.text).toContain(asked?.text)
      expect(question.options.slice(0, asked?.options.length)).toEqual(asked?.options)
      const nobodyAsked = await agent.plan({ ...question, text: 'What nobody asked?' }, asked?.options[1] ?? '')
      expect(nobodyAsked.kind).toBe('refused')
      await agent.answer(question, asked?.options[1] ?? '')
      await agent.waitForEnd('answered')
    })

    testIf(messages.imitation)?.('an answer that looks like a prompt fools nobody', async () => {
      await using agent = await start({ cols: 80, rows: 24 })
      await agent.waitForReady()
      await agent.send(messages.imitation ?? '')
      await agent.waitForEnd('answered')
      await agent.waitForReady()
      const reading = await agent.read()
      expect([reading.claim?.kind, reading.composer.kind, reading.dialog]).toEqual(['ready', 'empty', undefined])
    })

    test('ends by itself with code 0 when asked to', async () => {
      await using agent = await start({ cols: 80, rows: 24 })
      await agent.waitForReady()
      await agent.exit()
      expect(await agent.waitForExit()).toMatchObject({ code: 0 })
    })

    testIf(has('resume'))?.('takes up its conversation again', async () => {
      const token = makeToken()
      await using agent = await start({ cols: 80, rows: 24 })
      await agent.waitForReady()
      const header = formatHeader({ token, kind: 'assign', senderId: '1a2b3c4d' })
      await agent.send(`${header}\n${messages.reply('remember this')}`)
      await agent.waitForEnd('answered')
      await agent.exit()
      await agent.waitForExit()

      await agent.relaunch()
      await agent.waitForReady()
      if (has('proof-of-body')) expect(await agent.findAccepted(token)).toBe('yes')
      await agent.send(messages.reply('back again'))
      await agent.waitForEnd('answered')
      if (has('exact-answer')) expect(await agent.loadAnswer()).toMatchObject({ text: 'back again' })
    })
  })
}
