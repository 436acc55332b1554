/** Messages that ended badly: listed, sent again as new ones, put away; classes of delivery; commands of the program itself. */
import { describe, expect, test } from 'vitest'
import type { MessageBody, SentBody } from '../../src/protocol/message.ts'
import { type Ask, eventually } from '../real-server.case.ts'
import { type Contract, refusal, time } from './contract.case.ts'

export function deadLetters(contract: () => Contract): void {
  const ask = (method: string, path: string, how?: Ask) => contract().ask(method, path, how)
  const send = async (id: string, query: string) =>
    (await ask('POST', `/terminals/${id}/inbox/messages?${query}`)).body as SentBody
  const read = async (id: number) => (await ask('GET', `/messages/${id}`)).body as MessageBody
  const waitFor = (id: number, state: string) =>
    eventually(`message ${id} to be ${state}`, async () => {
      const message = await read(id)
      return message.state === state ? message : undefined
    })
  /** A message whose receiver was ended before it could be typed. */
  const makeDead = async (text = 'reply late') => {
    const { id } = await contract().createAgent()
    await ask('POST', `/terminals/${id}/input`, { body: { message: 'hang' } })
    const { message_id } = await send(id, `message=${encodeURIComponent(text)}&sender_id=script`)
    await ask('DELETE', `/terminals/${id}`)
    return { id: message_id, receiver: id }
  }

  describe('dead letters', () => {
    test('are listed with their reason, and sent again to somebody else, once', async () => {
      const dead = await makeDead()
      const listed = (await ask('GET', `/messages?dead=true&receiver=${dead.receiver}`)).body
      expect(listed).toMatchObject([
        { id: dead.id, state: 'undeliverable', detail: `terminal ${dead.receiver} was deleted`, proof: null },
      ])
      const gone = await ask('POST', `/messages/${dead.id}/resend`)
      expect(refusal(gone)).toEqual([404, 'NOT_FOUND'])

      const { id } = await contract().createAgent()
      const again = (await ask('POST', `/messages/${dead.id}/resend`, { body: { receiver_id: id } })).body as SentBody
      expect(again).toMatchObject({ success: true, sender_id: 'script', receiver_id: id })
      expect(await waitFor(again.message_id, 'answered')).toMatchObject({ message: 'reply late', resend_of: dead.id })
      expect((await ask('GET', `/messages?dead=true&receiver=${dead.receiver}`)).body).toEqual([])
      const twice = [
        await ask('POST', `/messages/${dead.id}/resend`, { body: { receiver_id: id } }),
        await ask('POST', `/messages/${dead.id}/drop`),
        await ask('POST', `/messages/${again.message_id}/resend`),
        await ask('POST', `/messages/${again.message_id}/drop`),
      ]
      expect(twice.map(refusal)).toEqual(twice.map(() => [409, 'CONFLICT']))
      await ask('DELETE', `/terminals/${id}`)
    })

    test('that are dropped are dead no more, and leave a trace', async () => {
      const dead = await makeDead()
      const dropped = await ask('POST', `/messages/${dead.id}/drop`)
      expect([dropped.status, dropped.body]).toMatchObject([200, { id: dead.id, dropped_at: time }])
      expect((await ask('GET', `/messages?dead=true&receiver=${dead.receiver}`)).body).toEqual([])
      expect((await ask('GET', '/messages?state=undeliverable&limit=1')).body).toMatchObject([{ id: dead.id }])
      const { events } = (await ask('GET', '/events/history?limit=500')).body as { events: { type: string }[] }
      expect(events).toContainEqual(
        expect.objectContaining({ type: 'message.dropped', message_id: dead.id, by: 'user' }),
      )
      expect(refusal(await ask('POST', `/messages/${dead.id}/drop`))).toEqual([409, 'CONFLICT'])
    })

    test('are sent again under the limits of every message, and only by who sent them', async () => {
      const dead = await makeDead()
      const exited = await contract().createExited()
      const own = await contract().createAgent()
      const resend = (receiver_id: string) => ask('POST', `/messages/${dead.id}/resend`, { body: { receiver_id } })
      expect(refusal(await resend(exited.id))).toEqual([409, 'BLOCKED'])
      const headers = { 'x-cao-capability': await contract().real.capability(own.id) }
      const strange = [
        await ask('POST', `/messages/${dead.id}/drop`, { headers }),
        await ask('POST', `/messages/${dead.id}/resend`, { headers }),
      ]
      expect(strange.map(refusal)).toEqual(strange.map(() => [403, 'FORBIDDEN']))
      expect((await ask('GET', '/messages', { headers })).body).toEqual([])
      expect((await ask('GET', '/messages?sender=script', { headers })).body).toEqual([])

      const mine = await makeDead()
      await ask('POST', `/terminals/${own.id}/input`, { body: { message: 'hang' } })
      await contract().waitForStatus(own.id, 'processing')
      const fill = () => send(own.id, 'message=x')
      for (let sent = 0; sent < 1_000; sent += 50) await Promise.all(Array.from({ length: 50 }, fill))
      const full = [
        await ask('POST', `/messages/${mine.id}/resend`, { body: { receiver_id: own.id } }),
        await ask('POST', `/terminals/${own.id}/command?command=/compact&wait_s=0`),
      ]
      expect(full.map(refusal)).toEqual(full.map(() => [429, 'QUEUE_FULL']))
      await ask('DELETE', `/terminals/${own.id}`)
    })

    test('never go back to their own sender', async () => {
      const boss = await contract().createAgent()
      const worker = await contract().addAgent(boss.session_name, { caller_id: boss.id })
      await ask('POST', `/terminals/${worker.id}/input`, { body: { message: 'hang' } })
      const { message_id } = await send(worker.id, `message=x&sender_id=${boss.id}`)
      await ask('DELETE', `/terminals/${worker.id}`)
      const told = await eventually('the notice', async () => {
        const list = (await ask('GET', `/terminals/${boss.id}/inbox/messages`)).body as MessageBody[]
        return list.find(({ orchestration_type }) => orchestration_type === 'notice')
      })
      expect(told.message).toContain(`Your message ${message_id} to ${worker.id} is undeliverable`)
      expect(told.message).toContain('\nIt began: x\n')
      const back = await ask('POST', `/messages/${message_id}/resend`, { body: { receiver_id: boss.id } })
      expect(refusal(back)).toEqual([400, 'BAD_REQUEST'])
      await ask('DELETE', `/terminals/${boss.id}`)
    })
  })

  describe('how urgently', () => {
    test('an interrupt breaks the turn off, and is taken before what waits from others', async () => {
      const { id } = await contract().createAgent()
      const hung = (await ask('POST', `/terminals/${id}/input`, { body: { message: 'hang' } })).body as SentBody
      const waits = await send(id, 'message=reply%20later&sender_id=one')
      const urgent = await send(id, 'message=reply%20now&sender_id=two&delivery=interrupt')
      const [now, later] = [await waitFor(urgent.message_id, 'answered'), await waitFor(waits.message_id, 'answered')]
      const confirmedAt = ({ receipts }: MessageBody) => receipts.find(({ state }) => state === 'confirmed')?.at ?? ''
      expect(confirmedAt(now) < confirmedAt(later)).toBe(true)
      expect(now.delivery).toBe('interrupt')
      expect(await read(hung.message_id)).toMatchObject({ state: 'answered', turn_outcome: 'interrupted' })
      await ask('DELETE', `/terminals/${id}`)
    })

    test('a class that the program can not serve is refused with what it can', async () => {
      const { id } = await contract().createAgent()
      const answer = await ask('POST', `/terminals/${id}/inbox/messages?message=x&delivery=gap`)
      expect([refusal(answer), JSON.stringify(answer.body)]).toMatchObject([
        [400, 'BAD_REQUEST'],
        expect.stringContaining('takes no prompt at work'),
      ])
      await ask('DELETE', `/terminals/${id}`)
    })
  })

  test('a command is typed for a person as it is, and refused where it is none', async () => {
    const { id } = await contract().createAgent()
    const sent = (await ask('POST', `/terminals/${id}/command`, { body: { command: '/status now' } })).body
    expect(sent).toMatchObject({ success: true, status: 'delivered' })
    for (const command of ['compact', '/a\nb', '//', '']) {
      expect((await ask('POST', `/terminals/${id}/command`, { body: { command } })).status).toBe(422)
    }
    const exited = await contract().createExited()
    expect(refusal(await ask('POST', `/terminals/${exited.id}/command?command=/x`))).toEqual([409, 'BLOCKED'])
    expect(refusal(await ask('POST', '/terminals/00000000/command?command=/x'))).toEqual([404, 'NOT_FOUND'])
    await ask('DELETE', `/terminals/${id}`)
  })
}
