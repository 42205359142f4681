import { spoilsConnection } from './errors.ts'
import type { Statement } from './database.ts'
import type { Lending } from './lending.ts'
import { gatherWrites, sendStatement, type Query } from './transaction.ts'

/** Look-ups that share a connection at one time: the last of them waits for all before it. */
const maxTogether = 16

interface Asked {
  readonly statement: Statement
  readonly values: readonly unknown[]
  readonly answer: PromiseWithResolvers<Awaited<ReturnType<Query>>>
}

/**
 * Sends the look-ups of one turn of the event loop over one connection in one write. Waking a backend costs a
 * process more than a look-up by key, so under load the requests that arrived together are served together. The
 * server processes each on its own: a failing one does not affect the others, unless the connection breaks.
 */
export const createLookups = (lending: Lending): Query => {
  let asked: Asked[] = []
  const sendAsked = (): void => {
    const together = asked
    asked = []
    if (together.length > 0) void sendTogether(together, lending)
  }
  return (statement, values) => {
    const answer = Promise.withResolvers<Awaited<ReturnType<Query>>>()
    // After the requests that are being read now.
    if (asked.length === 0) setImmediate(sendAsked)
    asked.push({ statement, values, answer })
    if (asked.length === maxTogether) sendAsked()
    return answer.promise
  }
}

/** Never rejects: each look-up gets its own result or error. */
const sendTogether = async (together: readonly Asked[], lending: Lending): Promise<void> => {
  const client = await lending.acquire().catch((error: unknown) => {
    for (const { answer } of together) answer.reject(error)
  })
  if (!client) return
  gatherWrites(client)
  let isSpoilt = false
  const send = async ({ statement, values, answer }: Asked): Promise<void> => {
    try {
      answer.resolve(await sendStatement(client, statement, values))
    } catch (error) {
      isSpoilt ||= spoilsConnection(error)
      answer.reject(error)
    }
  }
  await Promise.all(together.map(send))
  lending.release(client, isSpoilt)
}
