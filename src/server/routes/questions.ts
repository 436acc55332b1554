/** Questions that agents have put, and answers to them. */
import type { QuestionId } from '../../domain/ids.ts'
import { answerBody, toQuestionBody } from '../../protocol/question.ts'
import { requireCommand, requirePerson, requireReach } from '../access.ts'
import { actionWaiting, type Router, readParams, requireActor, type Services, terminalIdOf } from '../context.ts'

export function questionRoutes(router: Router, { app }: Services): void {
  router.get('/questions', (c) => {
    requirePerson(requireActor(c))
    return c.json(app.listQuestions().map(toQuestionBody))
  })
  router.get('/terminals/:id/questions', (c) => {
    const id = terminalIdOf(c)
    requireReach(app, requireActor(c), id)
    return c.json(app.listQuestions(id).map(toQuestionBody))
  })
  router.post('/terminals/:id/answer', async (c) => {
    const id = terminalIdOf(c)
    requireCommand(app, requireActor(c), id)
    const { answer, question_id } = await readParams(c, answerBody)
    const question = await app.answerQuestion(id, answer, question_id as QuestionId | undefined, actionWaiting())
    return c.json({ success: true, ...toQuestionBody(question) })
  })
}
