/** What a person has in their environment who uses Copilot CLI with a model of their own, and no account. `port`: the model's. */
export const copilotEnv = (port: number): Readonly<Record<string, string>> => ({
  COPILOT_OFFLINE: 'true',
  COPILOT_AUTO_UPDATE: 'false',
  COPILOT_PROVIDER_BASE_URL: `http://127.0.0.1:${port}/v1`,
  COPILOT_PROVIDER_API_KEY: 'none',
  COPILOT_MODEL: 'scripted',
})
