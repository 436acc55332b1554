/** What can be asked about the notices to the person. */
import type { NotifyBody, NotifyTestBody } from '../protocol/notify.ts'
import { paths } from '../protocol/paths.ts'
import type { CallOptions, Verbs } from './ask.ts'

export function notifyCalls({ get, slowPost }: Verbs) {
  return {
    getNotify: (how?: CallOptions) => get<NotifyBody>(paths.notify(), {}, how),
    testNotify: (how?: CallOptions) => slowPost<NotifyTestBody>(paths.notifyTest(), {}, how),
  }
}
