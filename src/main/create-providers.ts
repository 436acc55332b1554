/** Every provider of this version, in the order in which a default is chosen. A new CLI is one line here. */
import { join } from 'node:path'
import { createClaudeProvider } from '../providers/claude_code/claude-provider.ts'
import { createCodexProvider } from '../providers/codex/codex-provider.ts'
import { createCopilotProvider } from '../providers/copilot_cli/copilot-provider.ts'
import { createGeminiProvider } from '../providers/gemini_cli/gemini-provider.ts'
import { createKimiProvider } from '../providers/kimi_cli/kimi-provider.ts'
import { createOpencodeProvider } from '../providers/opencode_cli/opencode-provider.ts'
import type { Provider } from '../providers/provider.ts'
import { createQwenProvider } from '../providers/qwen_cli/qwen-provider.ts'
import { createScriptedProvider } from '../providers/scripted/scripted-provider.ts'

export function createProviders(root: string): readonly Provider[] {
  return [
    createClaudeProvider({ ownProgram: undefined }),
    createCodexProvider({ ownProgram: undefined }),
    createOpencodeProvider({ ownProgram: undefined }),
    createGeminiProvider({ ownProgram: undefined, node: process.execPath }),
    createQwenProvider({ ownProgram: undefined, node: process.execPath }),
    createCopilotProvider({ ownProgram: undefined }),
    createKimiProvider({ ownProgram: undefined }),
    createScriptedProvider({ agentArgv: [process.execPath, join(root, 'dist', 'scripted-agent.mjs')] }),
  ]
}
