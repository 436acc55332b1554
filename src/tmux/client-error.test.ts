import { describe, expect, test } from 'vitest'
import { classifyClientError } from './client-error.ts'

// Wordings seen from tmux 3.2a to 3.7c.
describe('what a tmux client says', () => {
  test.each([
    ['no server running on /run/s', 'no-server'],
    ['error connecting to /run/s (No such file or directory)', 'no-server'],
    ['error connecting to /run/s (Connection refused)', 'no-server'],
    ['error connecting to /run/s (Permission denied)', 'other'],
    ['server exited unexpectedly', 'refusing'],
    ['server exited', 'refusing'],
    ['lost server', 'refusing'],
    ["can't find pane: %9", 'no-target'],
    ["can't find session: keeper", 'no-target'],
    ["can't find window: @3", 'no-target'],
    ['no sessions', 'no-target'],
    ['no such window: x', 'no-target'],
    ['no space for new pane', 'other'],
    ['', 'other'],
  ])('%j means %s', (text, kind) => {
    expect(classifyClientError(text)).toBe(kind)
  })
})
