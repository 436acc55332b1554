import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { faultKinds, planFaults, quietEndMs } from './fault-plan.ts'
import { Random } from './random.ts'
import { askingText, jobText, markerOf, planTraffic, relayText, sessionCount, stepKinds } from './traffic-plan.ts'

const options = fc.record({
  seed: fc.nat(2 ** 31),
  durationMs: fc.integer({ min: 6_000, max: 1_200_000 }),
  agents: fc.integer({ min: 4, max: 60 }),
})

describe('the plans', () => {
  test('are functions of the seed: a failing seed plans the same run again', () => {
    const property = fc.property(options, (given) => {
      expect(planFaults(given)).toEqual(planFaults({ ...given }))
      expect(planTraffic(given)).toEqual(planTraffic({ ...given }))
    })
    fc.assert(property, { numRuns: 30 })
  })

  test('stay the same over the versions of this program, so that a seed in an old report still means its run', () => {
    const seen = planFaults({ seed: 1, durationMs: 40_000, agents: 6 }).map(
      ({ atMs, kind, slot }) => `${atMs} ${kind} ${slot}`,
    )
    expect(seen).toMatchInlineSnapshot(`
      [
        "298 tmux-freeze-server-kill 2",
        "1633 sink-kill 1",
        "2551 agent-kill 2",
        "3042 copy-mode 2",
        "3447 window-rename 1",
        "3861 pane-split 2",
        "5069 copy-mode 1",
        "6080 control-kill 1",
        "6399 tmux-freeze 1",
        "10315 tmux-kill 3",
        "10936 disk-full 1",
        "12827 control-kill 4",
        "13972 server-kill 5",
        "15453 agent-freeze 1",
        "17356 server-term 2",
        "18411 sink-kill 5",
        "19562 server-freeze 0",
        "20606 agent-freeze 4",
        "24286 sink-freeze 5",
        "26803 server-kill 3",
        "27637 control-freeze 2",
        "29477 copy-mode 4",
        "30263 control-kill 0",
        "30743 agent-kill 3",
        "31436 agent-freeze 4",
        "35090 sink-kill 4",
        "36188 sink-freeze 2",
      ]
    `)
    expect(planTraffic({ seed: 1, durationMs: 4_000, agents: 6 })).toMatchInlineSnapshot(`
      [
        {
          "asks": false,
          "atMs": 0,
          "kind": "relay",
          "lines": 0,
          "slot": 3,
          "to": [
            5,
          ],
        },
        {
          "asks": false,
          "atMs": 623,
          "kind": "message",
          "lines": 0,
          "slot": 3,
          "to": [],
        },
        {
          "asks": false,
          "atMs": 1072,
          "kind": "relay",
          "lines": 8,
          "slot": 5,
          "to": [
            3,
            1,
          ],
        },
        {
          "asks": false,
          "atMs": 1641,
          "kind": "relay",
          "lines": 0,
          "slot": 0,
          "to": [
            4,
          ],
        },
        {
          "asks": false,
          "atMs": 2631,
          "kind": "relay",
          "lines": 31,
          "slot": 3,
          "to": [
            5,
            1,
          ],
        },
        {
          "asks": false,
          "atMs": 3491,
          "kind": "handoff",
          "lines": 0,
          "slot": 4,
          "to": [],
        },
      ]
    `)
  })

  test('another seed is another run', () => {
    const kinds = (seed: number) => planFaults({ seed, durationMs: 120_000, agents: 8 }).map(({ kind }) => kind)
    expect(kinds(1)).not.toEqual(kinds(2))
  })

  test('faults come in order, hit slots that are there, and leave the end in peace', () => {
    const property = fc.property(options, (given) => {
      const faults = planFaults(given)
      let before = -1
      for (const { atMs, slot } of faults) {
        expect(atMs).toBeGreaterThan(before)
        expect(atMs).toBeLessThan(given.durationMs - quietEndMs)
        expect(slot).toBeGreaterThanOrEqual(0)
        expect(slot).toBeLessThan(given.agents)
        before = atMs
      }
    })
    fc.assert(property, { numRuns: 100 })
  })

  test('five minutes meet every kind of fault and of traffic, whatever the seed', () => {
    const property = fc.property(fc.nat(2 ** 31), (seed) => {
      const given = { seed, durationMs: 300_000, agents: 12 }
      expect(new Set(planFaults(given).map(({ kind }) => kind))).toEqual(new Set(faultKinds))
      expect(new Set(planTraffic(given).map(({ kind }) => kind))).toEqual(new Set(stepKinds))
      expect(planTraffic(given).some(({ asks }) => asks)).toBe(true)
    })
    fc.assert(property, { numRuns: 30 })
  })

  test('agents write only to others of their own session', () => {
    const property = fc.property(options, (given) => {
      for (const { slot, to } of planTraffic({ ...given, durationMs: 60_000 })) {
        for (const other of to) {
          expect(other).not.toBe(slot)
          expect(other % sessionCount).toBe(slot % sessionCount)
        }
      }
    })
    fc.assert(property, { numRuns: 30 })
  })
})

test('texts carry their marker in the first line, and rules that the scripted agent obeys', () => {
  expect(relayText(markerOf(1, 7), [{ receiverId: 'aaaaaaaa', marker: markerOf(1, 8) }])).toBe(
    'chaos-1-00007\ncall send_message {"receiver_id":"aaaaaaaa","message":"chaos-1-00008"}\nreply sent 1',
  )
  expect(jobText(markerOf(1, 9), 'assign', markerOf(1, 10))).toBe(
    'chaos-1-00009\n' +
      'call assign {"agent_profile":"developer","message":"chaos-1-00010\\nwait 300\\nreply the answer to chaos-1-00010"}\n' +
      'reply asked',
  )
  expect(jobText(markerOf(1, 9), 'handoff', markerOf(1, 10), true)).toContain(
    '\\nask chaos-1-00010: go on? | no | yes | later\\nreply the answer to chaos-1-00010"',
  )
  expect(askingText(markerOf(1, 9))).toBe(
    'chaos-1-00009\nask chaos-1-00009: go on? | no | yes | later\nreply chaos-1-00009 heard {result}',
  )
})

test('chance is spread evenly, and whole numbers reach both ends', () => {
  const random = new Random(42)
  const drawn = Array.from({ length: 6_000 }, () => random.whole(1, 6))
  for (const face of [1, 2, 3, 4, 5, 6]) {
    const times = drawn.filter((one) => one === face).length
    expect(times).toBeGreaterThan(800)
    expect(times).toBeLessThan(1_200)
  }
  expect([...random.shuffle([1, 2, 3, 4])].toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4])
})
