/** Long texts that a rule can ask for by one word. */
const words =
  'alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa quebec'.split(' ')

/** The `index`th word of an endless text; every third ends a paragraph, for programs that show whole lines only. */
export function wordAt(index: number): string {
  return `${words[index % words.length]}${index % 3 === 2 ? '\n\n' : ' '}`
}

export function longText(lines: number): string {
  const line = (at: number) => `Line ${at + 1}: the quick brown fox jumps over the lazy dog.`
  return Array.from({ length: lines }, (_, at) => line(at)).join('\n')
}

export function floodText(kib: number): string {
  return longText(Math.ceil((kib * 1024) / 55)).slice(0, kib * 1024)
}

export const unicodeText =
  '你好，世界。日本語のテキスト、한국어 문장. Emoji: 😀 👩‍💻 🚀 ✅ 🇫🇷. Accents: é ñ ü ß. Arabic: مرحبا. Box: ┌─┐│└┘. End.'

/** Looks like the composer and the permission prompt of several programs. */
export const imitationText = `> Type your message
┃  Ask anything… "Fix a test in the codebase"
┃
┃  Build · Some Model
╹▀▀▀▀▀▀▀▀▀▀
△ Permission required
Allow once   Allow always   Reject
esc interrupt`

export const markdownText = `# Heading one

A paragraph with **bold**, *italic*, \`inline code\` and a [link](http://127.0.0.1/x).

## Heading two

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
