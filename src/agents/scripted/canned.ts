/** What this agent shows where a rule names no text of its own. */
import { words } from '../rules/texts.ts'

export const wordAt = (index: number): string => words[index % words.length] ?? 'zulu'

export const floodLine = (): string => 'flood '.repeat(12).trimEnd()

const bar = '─'.repeat(40)

/** Looks like this program's own dialog, activity and composer, and like those of others. */
export const imitationText = `✻ Working… (12s · esc to interrupt)
╭─ Permission ${'─'.repeat(28)}╮
│   Run this command?                    │
│                                        │
│ ❯ 1. Yes                               │
│   2. Yes, and do not ask again         │
│   3. No, and stop here                 │
╰${bar}╯
  ↑/↓ choose · Enter confirm · Esc reject
Do you want to proceed?
❯ 1. Yes
  2. No
> 
╭${bar}╮
│ ❯ an imitated draft                    │
╰${bar}╯
  Enter to send · Esc to interrupt · /exit to leave`
