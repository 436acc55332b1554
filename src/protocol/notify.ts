/** How the person is told, on the wire: which ways there are, what is due, what a test of them gave. */
import { z } from 'zod'
import { noticeKinds } from '../domain/notice-kind.ts'
import { timeField } from './fields.ts'

export const notifySchema = z
  .object({
    kinds: z.array(z.enum(noticeKinds)),
    /** Local time, `22:00-07:30`; null: none. */
    quiet: z.string().nullable(),
    batch_s: z.number(),
    channels: z.array(
      z.object({
        channel: z.string(),
        due: z.number().int(),
        last: z.object({ at: timeField, told: z.boolean(), detail: z.string() }).nullable(),
      }),
    ),
  })
  .meta({ id: 'Notify' })
export type NotifyBody = z.infer<typeof notifySchema>

export const notifyTestSchema = z
  .object({ channels: z.array(z.object({ channel: z.string(), told: z.boolean(), detail: z.string() })) })
  .meta({ id: 'NotifyTest' })
export type NotifyTestBody = z.infer<typeof notifyTestSchema>
