import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ManualClock } from '../async/clock-manual.ts'
import type { MessageToken, SessionName, TerminalId } from '../domain/ids.ts'
import { silentLog } from '../lib/log.ts'
import { newTerminal } from '../store/rows.case.ts'
import { openStore } from '../store/sqlite/open.ts'
import { Ladder } from './ladder.ts'
import { TurnTracker } from './turn-tracker.ts'

test('how a turn ended is corrected when the program tells it after its screen has come to rest', () => {
  const dir = mkdtempSync(join(tmpdir(), 'cao-tracker-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  using store = openStore({ path: join(dir, 'cao.db') })
  const id = '1a2b3c4d' as TerminalId
  store.sessions.insert({ name: 'cao-x' as SessionName, createdAtMs: 1, workingDirectory: '/' })
  store.terminals.insert(newTerminal(id))
  const ladder = new Ladder({ store, clock: new ManualClock(), log: silentLog, announce: () => undefined })
  const tracker = new TurnTracker({ id, store, ladder })
  const message = store.messages.insert({
    token: '0123456789ab' as MessageToken,
    kind: 'send_message',
    senderId: 'user',
    receiverId: id,
    jobId: undefined,
    body: 'hello',
    createdAtMs: 1,
  })
  ladder.stepAll(message.id, ['lease', 'begin_typing', 'type'])
  tracker.noteAccepted('[cao send_message 0123456789ab from user]\nhello', 'hook', true)
  expect(tracker.noteTurnEnded('answered')).toHaveLength(1)
  expect(store.messages.find(message.id)).toMatchObject({ state: 'answered', turnOutcome: 'answered', proof: 'hook' })
  expect(tracker.noteTurnEnded('interrupted')).toEqual([])
  expect(store.messages.find(message.id)?.turnOutcome).toBe('interrupted')
})
