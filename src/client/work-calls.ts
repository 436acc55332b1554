/** What can be asked about messages, questions and jobs. */
import type { DeliveryClass } from '../domain/message.ts'
import type {
  JobBody,
  JobLineBody,
  ReportJobParams,
  RetryJobParams,
  RunStepParams,
  StartJobParams,
  StepBody,
} from '../protocol/job.ts'
import type { MessageBody, SentBody } from '../protocol/message.ts'
import { paths } from '../protocol/paths.ts'
import type { AnswerParams, QuestionBody, QuestionsFilter } from '../protocol/question.ts'
import { jobWaitMaxS, stepTimeoutDefaultS } from '../protocol/version.ts'
import { type CallOptions, holdMarginMs, slowTimeoutMs, type Verbs } from './ask.ts'

export function workCalls({ get, post, slowPost }: Verbs) {
  return {
    /** Puts a message into an inbox; answers at once. */
    sendMessage: (
      receiverId: string,
      params: { message: string; sender_id?: string; uuid?: string; delivery?: DeliveryClass },
      how?: CallOptions,
    ) => post<SentBody>(paths.inbox(receiverId), { body: params }, how),
    listMessages: (
      receiverId: string,
      query: { limit?: number; status?: 'pending' | 'delivered' | 'failed' } = {},
      how?: CallOptions,
    ) => get<readonly MessageBody[]>(paths.inbox(receiverId), { query }, how),
    /** Of all agents, newest first. */
    searchMessages: (
      query: { limit?: number; state?: string; receiver?: string; sender?: string; dead?: boolean } = {},
      how?: CallOptions,
    ) => get<readonly MessageBody[]>(paths.messages(), { query }, how),
    resendMessage: (id: number, params: { receiver_id?: string } = {}, how?: CallOptions) =>
      post<SentBody>(paths.resendMessage(id), { body: params }, how),
    dropMessage: (id: number, how?: CallOptions) => post<MessageBody>(paths.dropMessage(id), {}, how),
    getMessage: (id: number, how?: CallOptions) => get<MessageBody>(paths.message(id), {}, how),

    listQuestions: (terminalId?: string, how?: CallOptions & { readonly query?: QuestionsFilter }) =>
      get<readonly QuestionBody[]>(
        terminalId === undefined ? paths.questions() : paths.terminalQuestions(terminalId),
        { query: how?.query ?? {} },
        how,
      ),
    answerQuestion: (terminalId: string, params: AnswerParams, how?: CallOptions) =>
      slowPost<QuestionBody>(paths.answer(terminalId), { body: params }, how),

    startJob: (params: StartJobParams, how?: CallOptions) => slowPost<JobBody>(paths.jobs(), { body: params }, how),
    /** The job once it has ended, or as it stands after `waitS` (at most `jobWaitMaxS`). */
    getJob: (id: string, waitS = 0, how?: CallOptions) => {
      const heldS = Math.min(waitS, jobWaitMaxS)
      const timeoutMs = how?.timeoutMs ?? heldS * 1_000 + holdMarginMs
      return get<JobBody>(paths.job(id), { query: { wait_s: heldS } }, { signal: how?.signal, timeoutMs })
    },
    /** Newest first. */
    listJobs: (
      query: { caller_id?: string; worker_id?: string; state?: string; limit?: number } = {},
      how?: CallOptions,
    ) => get<readonly JobLineBody[]>(paths.jobs(), { query }, how),
    retryJob: (id: string, params: RetryJobParams = {}, how?: CallOptions) =>
      slowPost<JobBody>(paths.retryJob(id), { body: params }, how),
    reportJob: (id: string, params: ReportJobParams, how?: CallOptions) =>
      post<JobBody>(paths.reportJob(id), { body: params }, how),
    cancelJob: (id: string, how?: CallOptions) => slowPost<JobBody>(paths.cancelJob(id), {}, how),
    runStep: (params: RunStepParams, how?: CallOptions) => {
      const timeoutMs = how?.timeoutMs ?? Number(params.timeout ?? stepTimeoutDefaultS) * 1_000 + slowTimeoutMs
      return post<StepBody>(paths.runStep(), { body: params }, { signal: how?.signal, timeoutMs })
    },
  }
}
