/**
 * Silence after an INVITE ends its call, because a phone may have rung (D3). A datagram shows nothing of its arrival, so a
 * gateway that was not heard for this long is asked with OPTIONS first, if it ever responded to that.
 */
const freshMs = 5_000
/** Timer A: a proxy sends 100 within 200 ms, so that an INVITE without any response until its repetition is a sign. */
const patienceMs = 500

/** An INVITE, until its gateway is heard or its call is over. */
interface ExpectedResponse {
  /** It leaves the socket now. */
  leaves(): void
  heard(): void
  /** It ended in silence, or was never sent. */
  forget(): void
}

/** When a gateway was last heard, and whether it responds to OPTIONS at all. */
export class GatewayHearing {
  readonly #nowMs: () => number
  /** When each INVITE left that has no response yet; at most one for each live call. */
  readonly #silent = new Map<object, number>()
  #heardAtMs = -Infinity
  #answersOptions = false
  #asking: Promise<boolean> | undefined

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** It responded to OPTIONS. */
  answered(): void {
    this.#answersOptions = true
    this.#heardAtMs = this.#nowMs()
  }

  expect(): ExpectedResponse {
    const key = {}
    const forget = (): void => void this.#silent.delete(key)
    return {
      leaves: () => void this.#silent.set(key, this.#nowMs()),
      heard: () => {
        forget()
        this.#heardAtMs = this.#nowMs()
      },
      forget,
    }
  }

  /** Whether the next INVITE might be lost, and OPTIONS would show it. */
  isDoubtful(): boolean {
    if (!this.#answersOptions) return false
    const nowMs = this.#nowMs()
    if (nowMs - this.#heardAtMs > freshMs) return true
    return [...this.#silent.values()].some(
      (sentMs) => sentMs > this.#heardAtMs && nowMs - sentMs > patienceMs,
    )
  }

  /** One question at a time, for any number of calls. */
  ask(question: () => Promise<boolean>): Promise<boolean> {
    return (this.#asking ??= question().finally(() => {
      this.#asking = undefined
    }))
  }
}
