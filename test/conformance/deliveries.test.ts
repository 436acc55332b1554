/**
 * Messages of eight shapes into every real CLI, some times each: each is confirmed once, with its proof, or refused for a true reason, and
 * what the model server was told decides. Then what must never be typed into, and how urgently a message may go. The tries are kept in
 * `.cache/conformance/deliveries-*.jsonl`; with CAO_DELIVERIES_RESUME only those that are missing are made.
 */
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { MessageBody } from '../../src/protocol/message.ts'
import { readIfThere, until } from '../world.case.ts'
import { installLimitMs, readRunPlan } from './cli-rig.case.ts'
import { type Run, rest, Stage, sleep, stepLimitMs } from './stage.case.ts'

const plan = readRunPlan(process.env)
const times = Number(process.env['CAO_DELIVERIES_TIMES'] ?? (plan.isEssential ? 1 : 3))
const isResumed = process.env['CAO_DELIVERIES_RESUME'] === '1'
const size = process.env['CAO_CONFORMANCE_SIZES']?.split(',')[0] ?? '120x40'
vi.setConfig({ testTimeout: 300_000, hookTimeout: installLimitMs })

const runs: readonly Run[] = plan.runs.map((run) => ({ ...run, size }))
const folder = join(import.meta.dirname, '..', '..', '.cache', 'conformance')
const bigChars = 64 * 1024
/** For a message to be seen waiting where it must not be typed. */
const holdMs = 1_500
/** A program may ask its model a moment after it has told of a prompt. */
const hearLimitMs = 5_000
const secret = 'the words of a file that nobody named'

type Try = {
  readonly shape: string
  readonly isRight: boolean
  readonly why: string
  readonly proof: string | null
  /** From the moment at which the message was there and its receiver at rest. */
  readonly fromIdleMs: number | null
}

describe.each(runs)('$rig.provider $version', (run) => {
  const { rig, version } = run
  const file = join(folder, `deliveries-${rig.provider}-${version}.jsonl`)
  let stage: Stage
  let count = 0
  beforeAll(async () => {
    mkdirSync(folder, { recursive: true })
    if (!isResumed) rmSync(file, { force: true })
    stage = await Stage.open(run)
    writeFileSync(join(stage.world.world.projectDir, 'witness.txt'), secret)
    await stage.waitFor(rest)
    // Nothing of a first start may disturb what is measured.
    await stage.expectTurn('reply warm')
  })
  afterAll(() => stage?.[Symbol.asyncDispose]())

  const marker = () => `mark-${process.pid}-${++count}`
  const send = async (message: string, delivery: 'idle' | 'gap' | 'interrupt' = 'idle') =>
    (await stage.world.client.sendMessage(stage.id, { message, sender_id: 'script', delivery })).message_id
  const read = (id: number): Promise<MessageBody> => stage.world.client.getMessage(id)
  const waitForEnd = (id: number) =>
    until(`an end of message ${id}`, stepLimitMs, async () => {
      const message = await read(id)
      return ['answered', 'refused', 'unconfirmed', 'expired', 'undeliverable'].includes(message.state)
        ? message
        : undefined
    })
  /** The user's texts in what the model was told last. */
  const heard = () => {
    const asked = stage.witness.facts.findLast((fact) => fact.kind === 'asked')
    return asked?.request.items.flatMap((item) => (item.kind === 'user' ? [item.text] : [])) ?? []
  }
  const squeeze = (text: string) => text.replaceAll(/\s+/g, '')

  /** Once and whole in the model's ears, through a file where it was too long; with nothing that the program put in its place. */
  function judge(message: MessageBody, mark: string): string {
    if (message.state !== 'answered') return `${message.state}: ${message.detail ?? ''}`
    const texts = heard()
    const own = texts.filter((text) => text.includes(mark))
    const pointer = texts.find((text) => text.includes(`/messages/`) && text.includes('too long to be typed'))
    const path = own.length === 0 ? /in the file (\S+) and do/.exec(pointer ?? '')?.[1] : undefined
    if (path !== undefined) return readFileSync(path, 'utf8') === message.message ? '' : 'the file is not the message'
    const last = texts.at(-1) ?? ''
    if (own.length !== 1)
      return `the model heard it ${own.length} times; at last: ${last.slice(0, 80)} … ${last.slice(-120)}`
    const [text = ''] = own
    const whole = [message.message, message.message.replaceAll(/(^|\s)@(?=\S)/g, '$1\\@')].map(squeeze)
    if (!whole.some((each) => squeeze(text).includes(each)))
      return `the model heard something else: ${text.slice(0, 200)}`
    const asked = stage.witness.facts.findLast((fact) => fact.kind === 'asked')
    return JSON.stringify(asked?.request.items).includes(secret) ? 'the program read a file that was only named' : ''
  }

  async function note(shape: string, id: number, mark: string, isFromIdle: boolean): Promise<void> {
    const message = await waitForEnd(id)
    await stage.waitFor(rest)
    await until('the model to hear it', hearLimitMs, () => (judge(message, mark) === '' ? true : undefined)).catch(
      () => 0,
    )
    const why = judge(message, mark)
    const at = (state: string) => Date.parse(message.receipts.find((rung) => rung.state === state)?.at ?? '')
    const fromIdleMs = isFromIdle ? at('confirmed') - at('queued') : null
    const done: Try = { shape, isRight: why === '', why, proof: message.proof, fromIdleMs }
    appendFileSync(file, `${JSON.stringify(done)}\n`)
    expect(why, JSON.stringify({ ...message, message: undefined })).toBe('')
    expect(message.proof).not.toBeNull()
  }

  function shape(name: string, tryIt: (mark: string) => Promise<number>, isFromIdle = false): void {
    const known = isResumed
      ? readIfThere(file)
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line) as Try)
          .filter((each) => each.shape === name && each.isRight).length
      : 0
    for (let nth = known + 1; nth <= times; nth++) {
      test(`${name}, ${nth} of ${times}`, async () => {
        const mark = marker()
        await note(name, await tryIt(mark), mark, isFromIdle)
      })
    }
  }

  shape('short', (mark) => send(`reply ${mark}`), true)
  shape('40 lines', (mark) => send(`${lines(38)}\n${mark}\nreply forty`), true)
  shape('64 KB', (mark) => send(`reply big\n${filler(bigChars)}\n${mark}`), true)
  shape('unicode', (mark) => send(`日本語 한국어 \u{1f680} \u{1f469}‍\u{1f4bb} é — “quoted” ${mark}\nreply seen`), true)
  shape(
    'slash',
    (mark) => send(`/help ${mark}\n!ls\n#note\nsee @witness.txt and @src and run /exit\nreply plain`),
    true,
  )
  shape('ends in a mention', (mark) => send(`reply ${mark}\nlook at @witness.txt`), true)
  shape('during streaming', async (mark) => {
    await stage.send('slow 2')
    await stage.waitFor(['processing'])
    return send(`reply ${mark}`)
  })
  shape('during a permission prompt', async (mark) => {
    const command = `touch ${join(stage.world.world.projectDir, `allowed-${count}`)}`
    await stage.send(`${rig.askingFor?.(command) ?? `tool ${command}`}\nreply done`)
    const question = await stage.findQuestion()
    const id = await send(`reply ${mark}`)
    await sleep(holdMs)
    expect(await read(id)).toMatchObject({ state: 'queued', attempts: 0 })
    expect((await stage.findQuestion()).id).toBe(question.id)
    await stage.world.client.answerQuestion(stage.id, { answer: question.options[0] ?? '', question_id: question.id })
    return id
  })
  shape('right after an interrupt', async (mark) => {
    const asked = stage.witness.facts.length
    await stage.send('hang')
    await stage.waitForModel('to be asked', () => stage.witness.facts.length > asked)
    await sleep(300)
    await stage.press(stage.quirks.interrupt)
    return send(`reply ${mark}`)
  })
  shape('as an interrupt', async (mark) => {
    const asked = stage.witness.facts.length
    await stage.send('say Begun.\nhang')
    await stage.waitForModel('to be asked', () => stage.witness.facts.length > asked)
    return send(`reply ${mark}`, 'interrupt')
  })

  test('in a gap a running tool is not cancelled, or the class is refused', async () => {
    const path = join(stage.world.world.projectDir, `gap-${count}`)
    const command = `sleep 4 && touch ${path}`
    if (!canTakeGap()) {
      await expect(send('x', 'gap')).rejects.toThrow(/takes no prompt at work/)
      return
    }
    await stage.send(`${rig.askingFor?.(command) ?? `tool ${command}`}\nreply done`)
    const question = await stage.findQuestion()
    await stage.world.client.answerQuestion(stage.id, { answer: question.options[0] ?? '', question_id: question.id })
    await stage.waitFor(['processing'])
    const mark = marker()
    const id = await send(`reply ${mark}`, 'gap')
    const taken = await until('the proof', stepLimitMs, async () => {
      const message = await read(id)
      return message.proof === null ? undefined : message
    })
    expect(readIfThere(path)).toBe('')
    expect(taken.state).toMatch(/confirmed|turn_started/)
    await until('the tool to have ended', stepLimitMs, () => (isThere(path) ? true : undefined))
    await until('the model to hear of it', stepLimitMs, () => (heard().join().includes(mark) ? true : undefined))
    await stage.waitFor(rest)
  })

  const pickers = rig.pickers ?? []
  test.each(pickers.map((picker) => [picker.name, picker] as const))(
    'nothing is typed into %s, and what waited goes when it is left',
    async (_name, { open, leave }) => {
      await stage.waitFor(rest)
      for (const keys of open) {
        await stage.press(keys)
        await sleep(700)
      }
      const mark = marker()
      const id = await send(`reply ${mark}`)
      await sleep(holdMs)
      expect(await read(id)).toMatchObject({ state: 'queued', attempts: 0 })
      for (const keys of leave) {
        await stage.press(keys)
        await sleep(700)
      }
      const message = await waitForEnd(id)
      expect(judge(message, mark)).toBe('')
      await stage.waitFor(rest)
    },
  )

  test('a command of the program is given as one', async () => {
    if (rig.command === undefined) return
    const sent = await stage.world.client.sendCommand(stage.id, { command: rig.command.text })
    expect(sent).toMatchObject({ status: 'delivered', proof: 'screen' })
    const { command } = rig
    await until('what it does', stepLimitMs, async () => {
      const { output } = await stage.world.client.readOutput(stage.id, 'screen')
      return command.shows.test(output) ? true : undefined
    })
    await stage.press([{ kind: 'key', name: 'Escape' }])
    await sleep(700)
    const mark = marker()
    const id = await send(`reply ${mark}`)
    await waitForEnd(id)
    await until('the model to hear it', hearLimitMs, async () =>
      judge(await read(id), mark) === '' ? true : undefined,
    )
  })

  const canTakeGap = () => stage.quirks.takesPromptsAtWork === true
})

const isThere = (path: string): boolean => {
  try {
    readFileSync(path)
    return true
  } catch {
    return false
  }
}
const lines = (count: number) =>
  Array.from({ length: count }, (_, at) => `line ${at + 1} of what is to be read`).join('\n')
const filler = (chars: number) => lines(Math.ceil(chars / 28)).slice(0, chars)
