/**
 * Real CLIs on the whole CAO, driven through their states by a scripted model. What CAO said is held against what the model server knows:
 * every change of status in order, none at rest while an answer still comes, answers to the byte. Which CLIs, versions and sizes:
 * `cli-rig.case.ts`. What came out is written to `.cache/conformance/`, from which `npm run conformance` prints its tables.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { QuestionBody } from '../../src/protocol/question.ts'
import { until } from '../world.case.ts'
import { essentialStates, installLimitMs, readRunPlan } from './cli-rig.case.ts'
import { type Run, rest, Stage, sleep, stepLimitMs } from './stage.case.ts'
import { pathOf, quantile, type Witness } from './witness.case.ts'

const root = join(import.meta.dirname, '..', '..')
const plan = readRunPlan(process.env)
vi.setConfig({ testTimeout: 240_000, hookTimeout: installLimitMs })

/** A dialog that still stands after this time is left to the person. */
const untouchedMs = 5_000
const limitS = 7_200
const limitToleranceMs = 120_000

/** `trail`: what CAO had seen by then, where it was wrong. */
type TriedState = {
  readonly name: string
  readonly isRight: boolean
  readonly why: string
  readonly trail: readonly string[]
}
const runs: readonly Run[] = plan.runs.flatMap((run) => plan.sizes.map((size) => ({ ...run, size })))

describe.each(runs)('$rig.provider $version at $size', (run) => {
  const { rig } = run
  let stage: Stage
  const states: TriedState[] = []
  beforeAll(async () => {
    stage = await Stage.open(run)
  })
  afterAll(async () => {
    writeResult(run, { states, wanted: tried.length }, stage?.witness)
    await stage?.[Symbol.asyncDispose]()
  })

  const tried: string[] = []
  /** A state that is tried; where there is little time the essential ones only. */
  function state(name: string, tryIt: () => Promise<void>): void {
    if (plan.isEssential && !essentialStates.includes(name)) return
    tried.push(name)
    test(name, async () => {
      try {
        await tryIt()
        states.push({ name, isRight: true, why: '', trail: [] })
      } catch (error) {
        const why = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : ''
        states.push({ name, isRight: false, why, trail: await stage.describeTrail() })
        throw error
      }
    })
  }
  const turn = ['processing', 'completed']
  const expectAnswer = async () => {
    // A retry of the turn before may be refused after it.
    const { text } = stage.witness.lastSaid() ?? { text: '' }
    expect(text).not.toBe('')
    const kept = (rig.keeps ?? String)(text)
    // Some take blanks off the end.
    expect([kept, kept.trimEnd()]).toContain(await stage.lastAnswer())
  }

  state('ready after the start', async () => {
    expect(await stage.waitFor(rest)).toBe('idle')
  })

  state('an answer', async () => {
    expect(await stage.expectTurn('reply hello from the model')).toEqual(turn)
    await expectAnswer()
  })

  state('streaming', async () => {
    expect(await stage.expectTurn('slow 4')).toEqual(turn)
    await expectAnswer()
  })

  state('a silent model, and an interrupt', async () => {
    const asked = stage.witness.facts.length
    const seq = await stage.lastSeq()
    await stage.send('hang')
    await stage.waitForModel('to be asked', () => stage.witness.facts.length > asked)
    await sleep(3_000)
    expect(await stage.waitFor(['processing'])).toBe('processing')
    await stage.interrupt()
    const [first, ...later] = pathOf(await stage.witness.listChanges(stage.world.client, stage.id, seq))
    expect([first, later.length, rest.includes(later[0] ?? '')]).toEqual(['processing', 1, true])
  })

  const askingFor = rig.askingFor ?? ((command: string) => `tool ${command}`)
  const askForPermission = async (file: string, then: string, choose: (question: QuestionBody) => string) =>
    stage.expectTurn(`${askingFor(`touch ${join(stage.world.world.projectDir, file)}`)}${then}`, async () => {
      const [from, askedMs] = [stage.witness.facts.length, stage.witness.lastAnswered(0)?.atMs]
      const question = await stage.findQuestion()
      expect([question.reason, question.options.length > 1]).toEqual(['permission', true])
      expect(question.text).toContain(file)
      const sinceMs = stage.witness.lastAnswered(from)?.atMs ?? stage.witness.lastAnswered(0)?.atMs ?? askedMs ?? 0
      await stage.witness.noteDelays(stage.world.client, stage.id, sinceMs, 'question')
      const answer = choose(question)
      await stage.world.client.answerQuestion(stage.id, { answer, question_id: question.id })
    })

  state('a permission that is given', async () => {
    const path = await askForPermission('given', '\nreply done', ({ options }) => options[0] ?? '')
    expect(path).toEqual(['processing', 'waiting_user_answer', 'processing', 'completed'])
    expect(existsSync(join(stage.world.world.projectDir, 'given'))).toBe(true)
    expect(await stage.lastAnswer()).toContain('done')
  })

  state('a permission that is refused', async () => {
    const refusal = ({ options }: QuestionBody) =>
      options.findLast((option) => /^(?:no|reject|deny|cancel)/i.test(option)) ?? 'no'
    const path = await askForPermission('refused', '', refusal)
    expect(path.slice(0, 2)).toEqual(['processing', 'waiting_user_answer'])
    expect(rest).toContain(path.at(-1))
    expect(existsSync(join(stage.world.world.projectDir, 'refused'))).toBe(false)
  })

  if (rig.asks) {
    state('a question', async () => {
      const path = await stage.expectTurn('ask Which colour? | Red | Blue\nreply It said: {result}', async () => {
        const question = await stage.findQuestion()
        expect(question).toMatchObject({ reason: 'question', options: ['Red', 'Blue'] })
        await stage.world.client.answerQuestion(stage.id, { answer: 'Blue', question_id: question.id })
      })
      expect(path).toEqual(['processing', 'waiting_user_answer', 'processing', 'completed'])
      expect(await stage.lastAnswer()).toContain('Blue')
    })
  }

  for (const text of ['markdown', 'unicode', 'long', 'say one block\nreply and another']) {
    state(`the answer to the byte: ${text.split('\n', 1)[0]}`, async () => {
      expect(await stage.expectTurn(text)).toEqual(turn)
      await expectAnswer()
    })
  }

  const expectFault = async (message: string, isRetried: boolean) => {
    await stage.send(message)
    if (isRetried) {
      await stage.waitFor(['processing'], rig.hidesRetries === true ? undefined : 'retrying')
      await stage.interrupt()
    } else {
      await stage.waitFor(['error'])
    }
    expect(await stage.expectTurn('reply goes on')).toEqual(turn)
    await expectAnswer()
  }
  for (const code of [400, 429, 500]) {
    state(`HTTP ${code}`, () => expectFault(`error ${code}`, rig.retries.includes(code)))
  }

  if (rig.dropped !== undefined) {
    state('a connection that breaks off', () => expectFault('say half\ncrash', rig.dropped === 'retried'))
  }

  if (rig.tellsLimitEnd) {
    state('a limit, and when it ends', async () => {
      const sentMs = Date.now()
      await stage.send(`limit ${limitS}`)
      await stage.waitFor(['error'], 'rate_limited')
      const { status_until } = await stage.world.client.getTerminal(stage.id)
      // Some tell the minute only.
      expect(Math.abs(Date.parse(status_until ?? '') - sentMs - limitS * 1_000)).toBeLessThan(limitToleranceMs)
      // CAO types nothing until then; a person may.
      await stage.press([
        { kind: 'text', text: 'reply goes on' },
        { kind: 'key', name: 'Enter' },
      ])
      await stage.waitFor(['completed'], 'turn_ended')
    })
  }

  state('two agents call their tools at once, each as itself', async () => {
    const { session_name: session } = await stage.world.client.getTerminal(stage.id)
    const { id: other } = await stage.world.client.createTerminal(session, {
      agent_profile: 'tried',
      working_directory: stage.world.world.projectDir,
    })
    const first = stage.id
    const call = (to: string, text: string) =>
      `call send_message ${JSON.stringify({ receiver_id: to, message: text })}\nreply sent`
    await Promise.all([
      stage.world.client.sendInput(first, { message: call(other, 'reply one') }),
      stage.world.client.sendInput(other, { message: call(first, 'reply two') }),
    ])
    const from = async (id: string, sender: string) =>
      until(`a message from ${sender}`, stepLimitMs, async () =>
        (await stage.world.client.listMessages(id, { limit: 100 })).find(({ sender_id }) => sender_id === sender),
      )
    expect((await from(other, first)).message).toBe('reply one')
    expect((await from(first, other)).message).toBe('reply two')
    await stage.waitFor(rest)
    await stage.world.client.deleteTerminal(other)
  })

  state('the end of the program, and its conversation again', async () => {
    await stage.world.client.exitTerminal(stage.id)
    await stage.waitFor(['completed'], 'exited')
    if (plan.isEssential) return
    await stage.world.client.recoverTerminal(stage.id, {})
    await stage.waitFor(rest)
    expect(await stage.expectTurn('reply back again')).toEqual(turn)
    const asked = stage.witness.facts.findLast((fact) => fact.kind === 'asked')
    const heard = asked?.request.items.some(
      // Some lose the first prompt of a conversation in which a tool was refused.
      (item) => item.kind === 'user' && /hello from the model|reply goes on/.test(item.text),
    )
    expect(heard, 'the model sees the conversation of before').toBe(true)
  })

  state('a person who leaves the program: nothing is typed into what is there then', async () => {
    for (const { keys, pauseMs } of stage.quirks.exit) {
      await stage.press(keys)
      await sleep(pauseMs)
    }
    await stage.waitFor(['completed'], 'exited')
    const path = join(stage.world.world.projectDir, 'typed')
    await expect(stage.send(`touch ${path}`)).rejects.toThrow('has no running')
    expect(existsSync(path)).toBe(false)
  })

  if (rig.asks) expect(tried, 'every essential state is one').toEqual(expect.arrayContaining([...essentialStates]))
})

describe.each(runs.filter(({ rig }) => !plan.isEssential && rig.greetsNewcomers))(
  '$rig.provider $version at $size',
  (run) => {
    test('a dialog of the start that nobody allowed CAO to answer is a question to the person, and stays', async () => {
      await using stage = await Stage.open(run, 'newcomer')
      await stage.waitFor(['waiting_user_answer'])
      const { id, text } = await stage.findQuestion()
      await sleep(untouchedMs)
      expect(await stage.findQuestion()).toMatchObject({ id, text })
      expect(stage.witness.facts).toEqual([])
    })
  },
)

/** `wanted`: how many states there are. */
type Outcome = { readonly states: readonly TriedState[]; readonly wanted: number }

function writeResult({ rig, version, size }: Run, outcome: Outcome, witness: Witness | undefined): void {
  const delays = [...(witness?.delays ?? [])].map(([name, values]) => ({
    name,
    count: values.length,
    p50Ms: quantile(values, 0.5),
    p95Ms: quantile(values, 0.95),
  }))
  const dir = join(root, '.cache', 'conformance')
  mkdirSync(dir, { recursive: true })
  const result = {
    provider: rig.provider,
    version,
    size,
    isEssential: plan.isEssential,
    at: new Date().toISOString(),
    ...outcome,
    delays,
  }
  writeFileSync(join(dir, `${rig.provider}-${version}-${size}.json`), JSON.stringify(result, null, 2))
}
