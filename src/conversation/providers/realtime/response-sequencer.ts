/** Sees to it that at most one response is in flight: a second `response.create` would be refused by the server. */
export interface ResponseSequencer {
  /** Asks for this response now, or as soon as the one in flight is over. */
  request(response: object): void
  /**
   * The conversation has something new the model must react to. Any response that begins from now on does that, so this
   * asks for one only if the server does not begin one by itself.
   */
  oweAnswer(): void
  /** `response.created`: ours, or one the server began by itself after the callee spoke. */
  created(responseId: string): void
  /** `response.done`. */
  done(responseId: string): void
  /** The server refused our `response.create` because another response is active: it is asked again afterwards. */
  refused(eventId: string | undefined): void
  readonly inFlightId: string | undefined
}

/** An agent never has more than a greeting and a few prompts to say; what is beyond drops out, oldest first. */
const maxWaiting = 8

export const createResponseSequencer = (
  send: (eventId: string, response: object | undefined) => void,
): ResponseSequencer => {
  const waiting: object[] = []
  let requestsSent = 0
  let asked: { readonly eventId: string; readonly response: object | undefined } | undefined
  let isAnswerOwed = false
  let inFlightId: string | undefined

  const ask = (response: object | undefined): void => {
    requestsSent += 1
    asked = { eventId: `outdial_response_${requestsSent}`, response }
    send(asked.eventId, response)
  }

  const askNext = (): void => {
    if (asked || inFlightId !== undefined) return
    if (isAnswerOwed) {
      isAnswerOwed = false
      return ask(undefined)
    }
    const next = waiting.shift()
    if (next) ask(next)
  }

  return {
    request(response) {
      if (waiting.length >= maxWaiting) waiting.shift()
      waiting.push(response)
      askNext()
    },
    oweAnswer() {
      isAnswerOwed = true
      askNext()
    },
    created(responseId) {
      // It may be the server's own: what we asked for stays known until this one is over, in case it is refused.
      inFlightId = responseId
      isAnswerOwed = false
    },
    done(responseId) {
      if (inFlightId !== undefined && inFlightId !== responseId) return
      inFlightId = undefined
      asked = undefined
      askNext()
    },
    refused(eventId) {
      if (!asked || (eventId !== undefined && asked.eventId !== eventId)) return
      // A refused answer is given by the very response that stood in its way.
      if (asked.response) waiting.unshift(asked.response)
      asked = undefined
    },
    get inFlightId() {
      return inFlightId
    },
  }
}
