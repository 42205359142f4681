/** An agent has at most a greeting and a few prompts to say; beyond that the oldest is dropped. */
const maxWaiting = 8

interface Request {
  readonly response: object | undefined
  readonly text: string | undefined
}

interface AskedRequest extends Request {
  readonly eventId: string
}

/** Keeps at most one response in flight: the server would refuse a second `response.create`. */
export class ResponseSequencer {
  readonly #send: (eventId: string, response: object | undefined) => void
  readonly #waiting: Request[] = []
  #requestsSent = 0
  #asked: AskedRequest | undefined
  #isReplyOwed = false
  /** Owed since the response in flight began. */
  #isOwedSince = false
  #inFlightId: string | undefined

  constructor(send: (eventId: string, response: object | undefined) => void) {
    this.#send = send
  }

  get inFlightId(): string | undefined {
    return this.#inFlightId
  }

  /** Whether the response in flight, or asked for, speaks a given text. */
  get isVerbatim(): boolean {
    return this.#asked?.text !== undefined
  }

  /** Nothing is in flight, requested or waiting. */
  get isIdle(): boolean {
    const isInFlight = this.#asked !== undefined || this.#inFlightId !== undefined
    return !isInFlight && this.#waiting.length === 0 && !this.#isReplyOwed
  }

  /** Given texts that have not been spoken to their end, in order. */
  get unsaid(): readonly string[] {
    return [this.#asked, ...this.#waiting].flatMap((request) => request?.text ?? [])
  }

  /** Requests this response now, or as soon as the one in flight is over. `text`: what it speaks, word for word. */
  request(response: object, text?: string): void {
    if (this.#waiting.length >= maxWaiting) this.#waiting.shift()
    this.#waiting.push({ response, text })
    this.resume()
  }

  /**
   * The conversation has a new item that needs a reply. Any response that begins from now on replies, so this
   * requests one only if the server does not begin one by itself.
   */
  oweReply(): void {
    this.#isReplyOwed = true
    this.#isOwedSince = true
    this.resume()
  }

  /** `response.created`: ours, or one that the server began by itself after the callee spoke. */
  created(responseId: string): void {
    // It may be the server's own: our request is remembered until this response is over, in case it is refused.
    this.#inFlightId = responseId
    // A given text is not a reply.
    if (this.#asked?.text === undefined) this.#isReplyOwed = false
    this.#isOwedSince = false
  }

  /** `response.done`. */
  done(responseId: string): void {
    if (!this.#isInFlight(responseId)) return
    this.#inFlightId = undefined
    this.#asked = undefined
    this.resume()
  }

  /** `response.done` of a failed response: what it should have said is owed again, from `resume` on. */
  failed(responseId: string): void {
    if (!this.#isInFlight(responseId)) return
    this.#inFlightId = undefined
    if (this.#asked?.text === undefined) this.#isReplyOwed = true
    else this.#waiting.unshift(this.#asked)
    this.#asked = undefined
  }

  /** The server refused our `response.create` because another response is active: it is repeated afterwards. */
  refused(eventId: string | undefined): void {
    const asked = this.#asked
    if (!asked || (eventId !== undefined && asked.eventId !== eventId)) return
    // The response that blocked a refused reply is that reply.
    if (asked.response) this.#waiting.unshift(asked)
    this.#asked = undefined
    if (this.#inFlightId !== undefined) this.#isReplyOwed = this.#isOwedSince
  }

  /** The response in flight was cancelled: its given text is no longer wanted. */
  cancelled(): void {
    if (this.#asked) this.#asked = { ...this.#asked, text: undefined }
  }

  /** Requests what is owed or waiting, if nothing is in flight. */
  resume(): void {
    if (this.#asked || this.#inFlightId !== undefined) return
    if (this.#isReplyOwed) {
      this.#isReplyOwed = false
      return this.#ask({ response: undefined, text: undefined })
    }
    const next = this.#waiting.shift()
    if (next) this.#ask(next)
  }

  /** A server may end a response without ever having named the one in flight. */
  #isInFlight(responseId: string): boolean {
    return this.#inFlightId === undefined || this.#inFlightId === responseId
  }

  #ask(request: Request): void {
    this.#requestsSent += 1
    this.#asked = { ...request, eventId: `outdial_response_${this.#requestsSent}` }
    this.#send(this.#asked.eventId, request.response)
  }
}
