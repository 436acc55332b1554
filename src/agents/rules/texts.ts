/** Texts that a rule asks for by one word; the scripted agent and the scripted model answer with the same. */
export const words =
  'alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa quebec romeo'.split(
    ' ',
  )

export function longText(lines: number): string {
  const line = (at: number) => `Line ${at + 1}: the quick brown fox jumps over the lazy dog.`
  return Array.from({ length: lines }, (_, at) => line(at)).join('\n')
}

export const unicodeText =
  '你好，世界。日本語のテキスト、한국어 문장. Emoji: 😀 👩‍💻 🚀 ✅ 🇫🇷. Accents: é ñ ü ß. Arabic: مرحبا. Box: ┌─┐│└┘. End.'

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
