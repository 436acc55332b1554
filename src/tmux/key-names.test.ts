import { describe, expect, test } from 'vitest'
import { isKeyName } from './key-names.ts'

describe('names of keys', () => {
  test.each(['Enter', 'Escape', 'C-c', 'M-x', 'C-M-a', 'M-Enter', 'S-Up', 'C-Left', 'F12', 'BTab', 'C-\\', 'PageUp'])(
    '%s is one',
    (name) => {
      expect(isKeyName(name)).toBe(true)
    },
  )

  test.each(['', 'a', 'enter', 'S-Enter', 'C-', 'C-C-c', 'X-a', 'F13', 'Enter;', 'C-é', ' '])('%j is none', (name) => {
    expect(isKeyName(name)).toBe(false)
  })
})
