/** Texts that the rules name. */
const words =
  'alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa quebec romeo'.split(
    ' ',
  )

export const wordAt = (index: number): string => words[index % words.length] ?? 'zulu'

export const longText = (lines: number): string =>
  Array.from({ length: lines }, (_, at) => `Line ${at + 1}: the quick brown fox jumps over the lazy dog.`).join('\n')

export const floodLine = (): string => 'flood '.repeat(12).trimEnd()

export const unicodeText =
  '你好，世界。日本語のテキスト、한국어 문장. Emoji: 😀 👩‍💻 🚀 ✅ 🇫🇷. Accents: é ñ ü ß. Arabic: مرحبا. Box: ┌─┐│└┘. End.'

export const markdownText = `# Heading one

A paragraph with **bold**, *italic*, \`inline code\` and a [link](http://127.0.0.1/x).

- first item
- second item
  - nested item
1. numbered one

\`\`\`js
function add(a, b) {
  return a + b; // comment
}
\`\`\`

| Name | Value |
| ---- | ----- |
| one  | 1     |

> a quoted line

End of markdown.`

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
