/**
 * Names of keys that every supported tmux knows. send-keys types an unknown name literally, so a
 * name is checked here before it is sent.
 * Source: tmux(1), KEY BINDINGS; key-string.c.
 */
const named = new Set(
  [
    'Enter Escape Tab BTab Space BSpace Up Down Left Right',
    'Home End IC Insert DC Delete PageUp PgUp PPage PageDown PgDn NPage',
    'F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12',
  ].flatMap((names) => names.split(' ')),
)
// Shift together with other keys is typed literally by tmux 3.3a.
const shiftable = new Set(['Up', 'Down', 'Left', 'Right', 'Home', 'End', 'PageUp', 'PPage', 'PageDown', 'NPage'])

/** True for Enter, C-c, M-x, C-M-a, S-Up and the like; a single character is text and no key. */
export function isKeyName(name: string): boolean {
  const match = /^((?:[CMS]-)*)(.+)$/.exec(name)
  if (match === null) return false
  const [, modifiers = '', base = ''] = match
  const letters = modifiers.replaceAll('-', '')
  if (new Set(letters).size !== letters.length) return false
  if (letters.includes('S')) return shiftable.has(base)
  return named.has(base) || (letters !== '' && /^[!-~]$/.test(base))
}
