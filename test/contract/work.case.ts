/** What messages, keys, answers and jobs are refused for: an agent that has ended, a full inbox, a thing that can not be. */
import { describe, expect, test } from 'vitest'
import { type Ask, eventually, waitForQuestion } from '../real-server.case.ts'
import { type Contract, hex8, refusal } from './contract.case.ts'

/** As `inboxLengthMax` says. */
const inboxLengthMax = 1_000

export function workRefusals(contract: () => Contract): void {
  const ask = (method: string, path: string, how?: Ask) => contract().ask(method, path, how)
  const work = (id: string) => ({
    input: () => ask('POST', `/terminals/${id}/input?message=x&wait_s=0`),
    message: () => ask('POST', `/terminals/${id}/inbox/messages?message=x`),
    job: () =>
      ask('POST', '/jobs', {
        body: { kind: 'assign', agent_profile: 'developer', message: 'x', reuse_terminal_id: id },
      }),
    step: () =>
      ask('POST', '/terminals/run-step', { body: { agent: 'developer', prompt: 'x', reuse_terminal_id: id } }),
  })

  describe('work for an agent', () => {
    test('that has ended is refused, and so are keys, its exit and an answer', async () => {
      const { id } = await contract().createExited()
      const { input, message, job, step } = work(id)
      const answers = [
        await input(),
        await message(),
        await job(),
        await step(),
        await ask('POST', `/terminals/${id}/key?key=Enter`),
        await ask('POST', `/terminals/${id}/exit`),
        await ask('POST', `/terminals/${id}/answer?answer=1`),
      ]
      expect(answers.map(refusal)).toEqual(answers.map(() => [409, 'BLOCKED']))
      const shown = [
        await ask('GET', `/terminals/${id}/capture`),
        await ask('GET', `/terminals/${id}/output?mode=last`),
      ]
      expect(shown.map(refusal)).toEqual(shown.map(() => [409, 'CONFLICT']))
      expect((await ask('GET', `/terminals/${id}/output`)).body).toMatchObject({ source: 'last screen' })
    })

    test('whose inbox is full is a 429, and is not queued', async () => {
      const { id } = await contract().createAgent()
      const { input, message, job, step } = work(id)
      await ask('POST', `/terminals/${id}/input`, { body: { message: 'hang' } })
      await contract().waitForStatus(id, 'processing')
      for (let sent = 0; sent < inboxLengthMax; sent += 50) await Promise.all(Array.from({ length: 50 }, message))
      const answers = [await input(), await message(), await job(), await step()]
      expect(answers.map(refusal)).toEqual(answers.map(() => [429, 'QUEUE_FULL']))
      await ask('DELETE', `/terminals/${id}`)
    })

    test('that is not there is a 404', async () => {
      const { job, step } = work('00000000')
      expect([refusal(await job()), refusal(await step())]).toEqual([
        [404, 'NOT_FOUND'],
        [404, 'NOT_FOUND'],
      ])
    })

    test('that it would give itself, or in no known key, is a 400', async () => {
      const { id } = await contract().createAgent()
      const query = `message=x&sender_id=${id}`
      const answers = [
        await ask('POST', `/terminals/${id}/inbox/messages?${query}`),
        await ask('POST', `/terminals/${id}/input?${query}`),
        await ask('POST', `/terminals/${id}/key?key=F13`),
      ]
      expect(answers.map(refusal)).toEqual(answers.map(() => [400, 'BAD_REQUEST']))
    })
  })

  test('an answer that is none of the options of a permission is refused, and the question stays', async () => {
    const { id } = await contract().createAgent()
    await ask('POST', `/terminals/${id}/input`, { body: { message: 'tool true\nreply done' } })
    const { id: questionId } = await waitForQuestion(contract().real, id)
    const bad = await ask('POST', `/terminals/${id}/answer`, {
      body: { answer: 'no such option', question_id: questionId },
    })
    expect(refusal(bad)).toEqual([400, 'BAD_REQUEST'])
    expect((await ask('GET', '/questions')).body).toContainEqual(
      expect.objectContaining({ id: questionId, closed_at: null }),
    )
    await ask('DELETE', `/terminals/${id}`)
  })

  test('a step that is cancelled is a 409 of kind cancelled', async () => {
    const body = { ...contract().given({}), agent: 'developer', prompt: 'hang' }
    const step = ask('POST', '/terminals/run-step', { body })
    const job = await eventually('the job of the step', async () => {
      const { events } = (await ask('GET', '/events/history')).body as {
        events: { type: string; job_id: string; kind: string }[]
      }
      return events.findLast(({ type, kind }) => type === 'job.created' && kind === 'step')?.job_id
    })
    await eventually('its worker', async () => {
      const { terminal_id } = (await ask('GET', `/jobs/${job}`)).body as { terminal_id: string | null }
      return terminal_id ?? undefined
    })
    expect((await ask('POST', `/jobs/${job}/cancel`)).body).toMatchObject({ id: job, state: 'cancelled' })
    const answer = await step
    expect([answer.status, answer.body]).toMatchObject([
      409,
      { code: 'CONFLICT', detail: { kind: 'cancelled', terminal_id: hex8 }, data: { job_id: job } },
    ])
  })

  test('a body may be long where a query may not', async () => {
    const { id } = await contract().createAgent()
    const message = `reply ok\n${'long '.repeat(60_000)}`
    const sent = await ask('POST', `/terminals/${id}/inbox/messages`, { body: { message } })
    expect([sent.status, sent.body]).toMatchObject([200, { success: true, status: 'pending' }])
    expect((await ask('GET', `/terminals/${id}/inbox/messages`)).body).toEqual([expect.objectContaining({ message })])
    await ask('DELETE', `/terminals/${id}`)
  })
}
