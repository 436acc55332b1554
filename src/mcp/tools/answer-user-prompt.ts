/** answer_user_prompt: give a waiting worker its answer. */
import { z } from 'zod'
import { answerLengthMax } from '../../protocol/question.ts'
import { defineTool } from '../tool.ts'
import { terminalId } from './arguments.ts'

export const answerUserPrompt = defineTool({
  name: 'answer_user_prompt',
  title: 'Answer the question of a waiting agent',
  description: [
    'Answers the question or permission prompt that another agent waits on (you are told of it by a message with the question, its',
    'options and its id). Give the text or the number of one option, or free text where the question takes it. Name',
    '`question_id` whenever you know it: without it the answer is taken only when exactly one question is open and you were',
    'shown it. Permissions, trust, login and updates are for the person, unless the profile of that agent says otherwise. Allow',
    'only what the task of that agent needs. To an agent that is not waiting, use `send_message`.',
  ].join(' '),
  input: {
    terminal_id: terminalId.describe('Terminal id of the waiting agent'),
    answer: z.string().min(1).max(answerLengthMax).describe('Text or number of an option, or free text'),
    question_id: z.string().optional().describe('Id of the question, such as q-1a2b3c4d'),
  },
  async run({ terminal_id, answer, question_id }, { client, signal }) {
    const question = await client.answerQuestion(terminal_id, { answer, question_id }, { signal })
    return { success: true, terminal_id, question_id: question.id, message: `answered: ${question.text}` }
  },
})
