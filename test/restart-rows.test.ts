/**
 * Rows and panes that do not fit each other when the server starts: each case is settled by itself, is said, and stops no
 * other. The rows are laid as crashes at the right moment, or other versions, leave them.
 */
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { crashServer, messageState, paneOf, pause, send } from './restart.case.ts'
import { TestWorld, until } from './world.case.ts'

let world: TestWorld
beforeEach(async () => {
  world = await TestWorld.open()
  await world.startServer()
})
afterEach(() => world[Symbol.asyncDispose]())

test('a pane before its row, a row before its pane, a pane that was taken away, one that nobody knows, and a row nobody can read', async () => {
  const ids = await Promise.all(Array.from({ length: 6 }, () => world.agent()))
  const [healthy, planned, unborn, removed, stranger, foreign] = ids as [string, string, string, string, string, string]
  await crashServer(world, async () => {
    using database = new DatabaseSync(world.world.layout.dbFile)
    const alter = (change: string, id: string) => database.prepare(`${change} WHERE id = ?`).run(id)
    alter("UPDATE terminals SET life = 'planned', pane = NULL", planned)
    alter("UPDATE terminals SET life = 'planned', pane = NULL", unborn)
    alter("UPDATE terminals SET provider = 'of_tomorrow'", foreign)
    for (const id of [unborn, removed]) world.tmux('kill-pane', '-t', paneOf(world, id))
    alter('DELETE FROM terminals', stranger)
    await pause(300)
  })

  const { last_recovery: recovery } = await world.client.health()
  expect(recovery).toMatchObject({
    lost: expect.arrayContaining([unborn, removed]) as unknown,
    strangers: [stranger],
    failed: [{ id: foreign, why: 'its provider of_tomorrow is not part of this version' }],
  })
  expect([...((recovery?.['adopted'] ?? []) as string[])].toSorted()).toEqual([healthy, planned].toSorted())
  for (const id of [healthy, planned]) {
    await messageState(world, await send(world, id, 'reply here'), 'answered')
    expect(world.accepted(id)).toHaveLength(1)
  }
  for (const id of [unborn, removed]) {
    expect(await world.client.getTerminal(id)).toMatchObject({ life: 'lost', status: 'error' })
  }
  expect((await world.client.getTerminal(removed)).lost_reason).toBe('its pane was gone when the server started')
  expect(await world.client.getTerminal(foreign)).toMatchObject({ life: 'live', status: 'unknown' })
  // Nobody's pane is nobody's to kill.
  expect(paneOf(world, stranger)).toMatch(/^%\d+$/)
  const status = await world.run('cao', ['server', 'status'])
  expect(status.out).toMatch(/last recovery +2 agents adopted, 2 lost, 0 ended meanwhile, 1 failed in \d+ ms/)
  await world.client.deleteTerminal(foreign)
  await until('the pane of the deleted agent to go', 15_000, () => {
    const tags = world.tmux('list-panes', '-a', '-F', '#{@cao_terminal_id}').split('\n')
    return tags.includes(foreign) ? undefined : true
  })
}, 90_000)
