/** A whole message from a stream: bounded, and exact or not at all. */
import { AppError } from '../domain/errors.ts'
import { messageBytesMax } from '../domain/message.ts'

/** Errors: TOO_LARGE above the limit of a message, BAD_REQUEST for bytes that are no UTF-8. */
export async function readAll(stream: AsyncIterable<Uint8Array | string>): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of stream) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    length += bytes.length
    if (length > messageBytesMax) {
      throw new AppError('TOO_LARGE', `a message has at most ${messageBytesMax / 1024 / 1024} MiB; nothing was sent`)
    }
    chunks.push(bytes)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks))
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new AppError('BAD_REQUEST', 'stdin is not UTF-8 text; nothing was sent')
  }
}
