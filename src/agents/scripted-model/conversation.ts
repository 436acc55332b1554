/**
 * What a model is asked, whatever the wire: the conversation so far and the tools it may call.
 * The wires (`chat-wire.ts`) read it from requests, `plan-answer.ts` decides what to say to it.
 */
import type { JsonObject } from '../rules/rules.ts'

export type Tool = {
  readonly name: string
  readonly schema: JsonObject
  /** Stands before its name, where the wire keeps the two apart. */
  readonly namespace?: string
}

export type Item =
  | { readonly kind: 'user'; readonly text: string }
  | { readonly kind: 'assistant' }
  | { readonly kind: 'result'; readonly text: string }
  /** A person stopped the turn: what it had still to do is forgotten. */
  | { readonly kind: 'interrupted' }

export type ModelRequest = {
  readonly model: string
  readonly isStreaming: boolean
  readonly systemPrompt: string
  readonly tools: readonly Tool[]
  readonly items: readonly Item[]
  /** The answer is to be JSON of this shape. */
  readonly answerSchema?: JsonObject
}

const wrappedMessage =
  /^\s*<system-reminder>\s*The user sent the following message:\n([\s\S]*?)\n+Please address this message[\s\S]*<\/system-reminder>\s*$/
/** A long paste is handed on inside a mark of its own. */
const pastedText = /<pasted_content id="([^"\n]*)">\n([\s\S]*?)\n<\/pasted_content id="\1">/g
const insertedBlock =
  /<(system-reminder|environment_context|environment_details|current_datetime)\b[^>]*>[\s\S]*?<\/\1>/g

/** A user's text without what the CLI put into it: reminders go, what came wrapped is unwrapped. */
export function cleanUserText(text: string): string {
  return (wrappedMessage.exec(text)?.[1] ?? text).replaceAll(insertedBlock, '').replaceAll(pastedText, '$2')
}

/** The tool of that name; CLIs put the server's name before it (`cao_handoff`, `mcp__cao__handoff`). */
export function findTool(tools: readonly Tool[], name: string): Tool | undefined {
  const flatten = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_')
  const wanted = flatten(name)
  return (
    tools.find((tool) => tool.name === name) ??
    tools.find((tool) => flatten(tool.name) === wanted) ??
    tools.find((tool) => flatten(tool.name).endsWith(`_${wanted}`))
  )
}

const shellToolNames = [
  'exec_command',
  'bash',
  'shell',
  'run_shell_command',
  'run_commands',
  'shell_command',
  'execute',
]
const questionToolNames = ['question', 'askuserquestion', 'ask_user_question', 'ask_user', 'request_user_input']

const findByName = (tools: readonly Tool[], names: readonly string[]) =>
  names.map((name) => tools.find((tool) => tool.name.toLowerCase() === name)).find((tool) => tool !== undefined)

export const findShellTool = (tools: readonly Tool[]): Tool | undefined => findByName(tools, shellToolNames)
export const findQuestionTool = (tools: readonly Tool[]): Tool | undefined => findByName(tools, questionToolNames)

/** Arguments that run `command`, with every other required field filled by something of its type. */
export function shellArguments(tool: Tool, command: string): JsonObject {
  const properties = (tool.schema['properties'] ?? {}) as Readonly<Record<string, JsonObject | undefined>>
  const key = ['command', 'cmd', 'commands'].find((name) => name in properties) ?? 'command'
  const required = (tool.schema['required'] ?? []) as readonly string[]
  const others = required.filter((name) => name !== key).map((name) => [name, sampleOf(properties[name])] as const)
  return { ...Object.fromEntries(others), [key]: properties[key]?.['type'] === 'array' ? [command] : command }
}

/** Arguments that ask one question; some programs want to name it, some want a form with one field. */
export function questionArguments(tool: Tool, text: string, labels: readonly string[]): JsonObject {
  if ('requestedSchema' in ((tool.schema['properties'] ?? {}) as JsonObject)) {
    const properties = { answer: { type: 'string', title: 'Answer', enum: labels } }
    return { message: text, requestedSchema: { properties, required: ['answer'] } }
  }
  const options = labels.map((label) => ({ label, description: label }))
  const schema = JSON.stringify(tool.schema)
  const id = schema.includes('"id"') ? { id: 'question' } : {}
  const type = schema.includes('"choice"') ? { type: 'choice' } : {}
  return { questions: [{ ...id, ...type, question: text, header: 'Question', options }] }
}

/** JSON that fits a schema of an object, with `text` in its texts. */
export function sampleAnswer(schema: JsonObject, text: string): string {
  const properties = Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, JsonObject>>)
  const valueOf = (property: JsonObject) => (property['type'] === 'string' ? text : sampleOf(property))
  return JSON.stringify(Object.fromEntries(properties.map(([name, property]) => [name, valueOf(property)])))
}

function sampleOf(property: JsonObject | undefined): unknown {
  const choices = property?.['enum']
  if (Array.isArray(choices)) return choices[0] as unknown
  switch (property?.['type']) {
    case 'boolean':
      return false
    case 'number':
    case 'integer':
      return 1000
    case 'array':
      return []
    default:
      return 'run a scripted command'
  }
}
