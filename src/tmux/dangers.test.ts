import { expect, test } from 'vitest'
import { dangersOf } from './dangers.ts'
import { parseVersion, type TmuxVersion } from './version.ts'

const names = (text: string) => dangersOf(parseVersion(text) as TmuxVersion).map(({ name }) => name)

test.each([
  ['tmux 3.2a', ['K2', 'K3', 'K4', 'K5', 'K9', 'K10', 'K13', 'K18']],
  ['tmux 3.3a', ['K2', 'K3', 'K4', 'K5', 'K9', 'K10', 'K15', 'K18', 'K19', 'K20']],
  ['tmux 3.4', ['K3', 'K4', 'K5', 'K9', 'K10', 'K15', 'K18']],
  ['tmux 3.6b', ['K3', 'K4', 'K5', 'K10', 'K15']],
  ['tmux 3.7c', ['K3', 'K4', 'K5', 'K10']],
  ['tmux next-3.8', ['K5', 'K10']],
  ['tmux master', ['K5', 'K10']],
])('%s has the dangers that were measured in it', (text, wanted) => {
  expect(names(text)).toEqual(wanted)
})
