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
      const given = (await job()).body as { id: string }
      await ask('POST', `/jobs/${given.id}/report`, { body: { status: 'failed', result: 'x' } })
      const retry = () => ask('POST', `/jobs/${given.id}/retry`)
      for (let sent = 0; sent < inboxLengthMax; sent += 50) await Promise.all(Array.from({ length: 50 }, message))
      const answers = [await input(), await message(), await job(), await step(), await retry()]
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

  test('agents that wake each other for ever are stopped, and told why', async () => {
    const one = await contract().createAgent()
    const two = await contract().addAgent(one.session_name)
    const send = async (from: string, to: string, how: 'inbox/messages' | 'input') => {
      const headers = { 'x-cao-capability': await contract().real.capability(from) }
      const answer = await ask('POST', `/terminals/${to}/${how}`, { body: { message: 'reply fine' }, headers })
      const { message_id: id } = answer.body as { message_id?: number }
      if (id !== undefined) await eventually('its arrival', async () => await isDelivered(id))
      return answer
    }
    const isDelivered = async (id: number) => {
      const { state } = (await ask('GET', `/messages/${id}`)).body as { state: string }
      return state === 'answered' ? true : undefined
    }
    for (const [from, to] of [
      [one, two],
      [two, one],
      [one, two],
    ] as const) {
      expect((await send(from.id, to.id, 'inbox/messages')).status).toBe(200)
    }
    const refused = [await send(two.id, one.id, 'inbox/messages'), await send(two.id, one.id, 'input')]
    expect(refused.map(refusal)).toEqual(refused.map(() => [409, 'LIMIT_REACHED']))
    const { events } = (await ask('GET', '/events/history?limit=500')).body as {
      events: { type: string; sender_id: string }[]
    }
    const stops = events.filter(({ type, sender_id: id }) => type === 'loop.stopped' && id === two.id)
    expect(stops, 'the person is told once').toHaveLength(1)
    // A person begins anew.
    await ask('POST', `/terminals/${two.id}/input`, { body: { message: 'reply hello' } })
    expect((await send(two.id, one.id, 'inbox/messages')).status).toBe(200)
    for (const { id } of [one, two]) await ask('DELETE', `/terminals/${id}`)
  })

  test('a queue that a person holds types nothing until it is released, or a person sends something', async () => {
    const { id } = await contract().createAgent()
    const hold = await ask('POST', `/terminals/${id}/hold`, { body: { why: 'I look at it' } })
    expect([hold.status, hold.body]).toMatchObject([200, { id }])
    const other = await contract().createAgent()
    const headers = { 'x-cao-capability': await contract().real.capability(other.id) }
    const sent = await ask('POST', `/terminals/${other.id}/inbox/messages`, { body: { message: 'reply x' }, headers })
    expect(sent.status, 'nobody writes to itself').toBe(400)
    const job = await ask('POST', '/jobs', {
      body: { kind: 'assign', agent_profile: 'developer', message: 'reply later', reuse_terminal_id: id },
    })
    expect(job.status).toBe(201)
    const explained = await eventually('the reason of the hold', async () => {
      const { facts } = (await ask('GET', `/terminals/${id}/explain`)).body as { facts: { hold: string } }
      return facts.hold === 'none' ? undefined : facts.hold
    })
    expect(explained).toBe('the queue is held by person/unix (I look at it): `cao release` lets it go on')
    expect((await ask('GET', `/terminals/${id}`)).body).toMatchObject({ queue_length: 1, status: 'idle' })
    expect((await ask('POST', `/terminals/${id}/release`)).status).toBe(200)
    await contract().waitForStatus(id, 'completed')
    await ask('POST', `/terminals/${id}/hold`)
    const typed = await ask('POST', `/terminals/${id}/input`, { body: { message: 'reply again' } })
    expect(typed.body).toMatchObject({ status: 'delivered' })
    const { events } = (await ask('GET', '/events/history?limit=500')).body as {
      events: { type: string; terminal_id: string; by: string }[]
    }
    const told = events.filter((event) => event.terminal_id === id && /held|released/.test(event.type))
    expect(told.map(({ type, by }) => [type, by])).toEqual([
      ['terminal.held', 'person/unix'],
      ['terminal.released', 'person/unix'],
      ['terminal.held', 'person/unix'],
      ['terminal.released', 'person/unix'],
    ])
    for (const each of [id, other.id]) await ask('DELETE', `/terminals/${each}`)
  })

  test('a supervisor answers questions and no permission, and only what it was shown', async () => {
    const boss = await contract().createAgent()
    const worker = await contract().addAgent(boss.session_name)
    const headers = { 'x-cao-capability': await contract().real.capability(boss.id) }
    const answer = (text: string, question_id?: string) =>
      ask('POST', `/terminals/${worker.id}/answer`, { body: { answer: text, question_id }, headers })
    await ask('POST', `/terminals/${worker.id}/input`, { body: { message: 'tool true\nreply done' } })
    const permission = await waitForQuestion(contract().real, worker.id)
    const refused = await answer('Yes', permission.id)
    expect([refusal(refused), (refused.body as { detail: string }).detail]).toEqual([
      [403, 'FORBIDDEN'],
      `question ${permission.id} waits for the person: permissions are given by the person, unless its profile says otherwise. They answer it with \`cao questions answer ${permission.id} ANSWER\``,
    ])
    await ask('POST', `/terminals/${worker.id}/answer`, { body: { answer: 'Yes' } })
    await contract().waitForStatus(worker.id, 'completed')
    await ask('POST', `/terminals/${worker.id}/input`, { body: { message: 'ask Which?|red|blue\nreply done' } })
    const question = await waitForQuestion(contract().real, worker.id)
    expect(refusal(await answer('red')), 'it was not shown').toEqual([409, 'CONFLICT'])
    const shown = await ask('GET', `/terminals/${worker.id}/questions`, { headers })
    expect(shown.body).toMatchObject([{ id: question.id, state: 'open', answered_by: null, operation: null }])
    expect((await answer('red')).body).toMatchObject({ state: 'answered', answered_by: boss.id, answer: 'red' })
    expect(refusal(await answer('blue', question.id)), 'it is closed').toEqual([409, 'CONFLICT'])
    const closed = await ask('GET', '/questions?state=answered')
    const ours = (closed.body as { id: string; answered_by: string }[]).filter(({ id }) =>
      [permission.id, question.id].includes(id),
    )
    expect(ours.map(({ id, answered_by: by }) => [id, by])).toEqual([
      [question.id, boss.id],
      [permission.id, 'person/unix'],
    ])
    for (const { id } of [boss, worker]) await ask('DELETE', `/terminals/${id}`)
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
