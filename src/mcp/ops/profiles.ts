/** What can be launched, and how more of it is installed. */
import { z } from 'zod'
import { boundList, defineOpsTool, profileName } from './ops-tool.ts'

export const listProfiles = defineOpsTool({
  name: 'list_profiles',
  title: 'List the agent profiles',
  description: [
    'Lists the agent profiles that can be launched: name, description, role, provider, capabilities, tags, and why one can not be',
    'loaded. Begin here to choose the `agent_profile` of `launch_session`.',
  ].join(' '),
  input: {},
  async run(_none, { client, signal }) {
    return { success: true, ...boundList('profiles', await client.listProfiles({ signal })) }
  },
})

export const getProfileDetails = defineOpsTool({
  name: 'get_profile_details',
  title: 'Show one agent profile',
  description: [
    'Shows one profile whole, with its system prompt and its tools, so that you can judge whether it fits before you launch it.',
    'Values of environment variables are never shown.',
  ].join(' '),
  input: { name: profileName.describe('Name as in `list_profiles`') },
  async run({ name }, { client, signal }) {
    return { success: true, profile: await client.getProfile(name, { signal }) }
  },
})

export const installProfile = defineOpsTool({
  name: 'install_profile',
  title: 'Install an agent profile',
  description: [
    'Takes a profile up into CAO: by the name of one that is known already, or from an https address on GitHub (other hosts only',
    'where the person allows them). A profile decides what an agent is told and what it may do: install only what your person',
    'asked for. `env_vars` are variables that the profile names as ${NAME}; they are kept privately and never shown again.',
  ].join(' '),
  input: {
    source: z.string().min(1).max(2_048).describe('Name of a profile, or an https address of a Markdown file'),
    provider: z.string().max(64).optional().describe('Agent CLI that it shall run on, such as claude_code'),
    env_vars: z.record(z.string(), z.string()).optional().describe('Variables for the profile, NAME to value'),
  },
  async run(params, { client, signal }) {
    return { ...(await client.installProfile(params, { signal })), success: true }
  },
})
