/** Keeps at most one response in flight: the server would refuse a second `response.create`. */
export interface ResponseSequencer {
  /** Asks for this response now, or as soon as the one in flight is over. `text`: what it says, word for word. */
  request(response: object, text?: string): void
  /**
   * The conversation has something new to which the model must reply. Any response that begins from now on does that, so
   * this asks for one only if the server does not begin one by itself.
   */
  oweReply(): void
  /** `response.created`: ours, or one the server began by itself after the callee spoke. */
  created(responseId: string): void
  /** `response.done`. */
  done(responseId: string): void
  /** `response.done` of a response that failed: what it should have said is owed again, from `resume` on. */
  failed(responseId: string): void
  resume(): void
  /** The server refused our `response.create` because another response is active: it is asked again afterwards. */
  refused(eventId: string | undefined): void
  /** The response in flight was cancelled: its given text is not wanted any more. */
  cancelled(): void
  readonly inFlightId: string | undefined
  /** Whether what is in flight, or asked for, says a given text. */
  readonly isVerbatim: boolean
  /** Nothing is in flight, asked for or waiting. */
  readonly isIdle: boolean
  /** Given texts that have not been said to their end, in order. */
  readonly unsaid: readonly string[]
}

/** An agent never has more than a greeting and a few prompts to say; what is beyond drops out, oldest first. */
const maxWaiting = 8

interface Request {
  readonly response: object | undefined
  readonly text: string | undefined
}

export const createResponseSequencer = (
  send: (eventId: string, response: object | undefined) => void,
): ResponseSequencer => {
  const waiting: Request[] = []
  let requestsSent = 0
  let asked: (Request & { readonly eventId: string }) | undefined
  let isReplyOwed = false
  /** Owed since the response in flight began. */
  let isOwedSince = false
  let inFlightId: string | undefined

  const ask = (request: Request): void => {
    requestsSent += 1
    asked = { ...request, eventId: `outdial_response_${requestsSent}` }
    send(asked.eventId, request.response)
  }

  const askNext = (): void => {
    if (asked || inFlightId !== undefined) return
    if (isReplyOwed) {
      isReplyOwed = false
      return ask({ response: undefined, text: undefined })
    }
    const next = waiting.shift()
    if (next) ask(next)
  }

  return {
    request(response, text) {
      if (waiting.length >= maxWaiting) waiting.shift()
      waiting.push({ response, text })
      askNext()
    },
    oweReply() {
      isReplyOwed = true
      isOwedSince = true
      askNext()
    },
    created(responseId) {
      // It may be the server's own: what we asked for stays known until this one is over, in case it is refused.
      inFlightId = responseId
      // A given text is no reply.
      if (asked?.text === undefined) isReplyOwed = false
      isOwedSince = false
    },
    done(responseId) {
      if (inFlightId !== undefined && inFlightId !== responseId) return
      inFlightId = undefined
      asked = undefined
      askNext()
    },
    failed(responseId) {
      if (inFlightId !== undefined && inFlightId !== responseId) return
      inFlightId = undefined
      if (asked?.text === undefined) isReplyOwed = true
      else waiting.unshift(asked)
      asked = undefined
    },
    resume: askNext,
    refused(eventId) {
      if (!asked || (eventId !== undefined && asked.eventId !== eventId)) return
      // The response that stood in the way of a refused reply is that reply.
      if (asked.response) waiting.unshift(asked)
      asked = undefined
      if (inFlightId !== undefined) isReplyOwed = isOwedSince
    },
    cancelled() {
      if (asked) asked = { ...asked, text: undefined }
    },
    get inFlightId() {
      return inFlightId
    },
    get isVerbatim() {
      return asked?.text !== undefined
    },
    get isIdle() {
      return !asked && inFlightId === undefined && waiting.length === 0 && !isReplyOwed
    },
    get unsaid() {
      return [asked, ...waiting].flatMap((request) => request?.text ?? [])
    },
  }
}
