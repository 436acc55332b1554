/**
 * Every path of the HTTP interface, as builders for clients. Names in a path are escaped here and nowhere else.
 * The server's route files spell the same paths as patterns; `test/http-contract.test.ts` holds the two together.
 */
const at = encodeURIComponent

export const paths = {
  health: () => '/health',
  doctor: () => '/doctor',
  profiles: () => '/agents/profiles',
  profile: (name: string) => `/agents/profiles/${at(name)}`,
  providers: () => '/agents/providers',
  sessions: () => '/sessions',
  session: (name: string) => `/sessions/${at(name)}`,
  sessionTerminals: (name: string) => `/sessions/${at(name)}/terminals`,
  shutdownAll: () => '/shutdown-all',
  terminals: () => '/terminals',
  terminal: (id: string) => `/terminals/${at(id)}`,
  terminalGroup: (id: string) => `/terminals/${at(id)}/group`,
  terminalMetadata: (id: string) => `/terminals/${at(id)}/metadata`,
  terminalSiblings: (id: string) => `/terminals/${at(id)}/siblings`,
  workingDirectory: (id: string) => `/terminals/${at(id)}/working-directory`,
  input: (id: string) => `/terminals/${at(id)}/input`,
  key: (id: string) => `/terminals/${at(id)}/key`,
  exit: (id: string) => `/terminals/${at(id)}/exit`,
  output: (id: string) => `/terminals/${at(id)}/output`,
  outputRange: (id: string) => `/terminals/${at(id)}/output/range`,
  explain: (id: string) => `/terminals/${at(id)}/explain`,
  attach: (id: string) => `/terminals/${at(id)}/attach`,
  recover: (id: string) => `/terminals/${at(id)}/recover`,
  recoverAll: () => '/recover',
  inbox: (id: string) => `/terminals/${at(id)}/inbox/messages`,
  terminalQuestions: (id: string) => `/terminals/${at(id)}/questions`,
  answer: (id: string) => `/terminals/${at(id)}/answer`,
  runStep: () => '/terminals/run-step',
  questions: () => '/questions',
  message: (id: number) => `/messages/${id}`,
  jobs: () => '/jobs',
  job: (id: string) => `/jobs/${at(id)}`,
  cancelJob: (id: string) => `/jobs/${at(id)}/cancel`,
  events: () => '/events',
  eventHistory: () => '/events/history',
} as const
