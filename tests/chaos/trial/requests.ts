import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Tenant } from './stage.ts'

/** A request and its final response, however often it was sent. */
export interface Settled {
  readonly tenant: Tenant
  readonly path: string
  readonly body: unknown
  readonly key: string
  readonly status: number
  readonly answer: Answer
  readonly isReplay: boolean
  /** How often it was sent; above 1 if a response was lost or asked for a retry. */
  readonly sent: number
}

export interface Answer {
  readonly id?: string
  readonly status?: string
  readonly data?: readonly BatchAnswer[]
  readonly error?: { readonly code?: string }
}

export interface BatchAnswer {
  readonly id: string
  readonly status: string
  readonly total_recipients: number
  readonly pending_recipients: number
  readonly queued_recipients: number
  readonly in_progress_recipients: number
  readonly completed_recipients: number
  readonly failed_recipients: number
  readonly cancelled_recipients: number
  readonly answered_recipients: number
  readonly no_answer_recipients: number
  readonly busy_recipients: number
}

export interface Requests {
  /** Sends it with one idempotency key until the response is final. */
  post(tenant: Tenant, path: string, body: unknown, key?: string): Promise<Settled>
  /** One try; undefined without a response. */
  get(tenant: Tenant, path: string): Promise<Answer | undefined>
  /** How many attempts had no response, or a 5xx. */
  unanswered(): number
}

const requestTimeoutMs = 10_000
const retryDelayMs = 150
/** Far longer than any outage of a trial. */
const patienceMs = 180_000
/** A key in use is retried, as the contract requires. */
const temporary = new Set(['idempotency_in_progress', 'rate_limit_exceeded'])

interface Message {
  readonly body: unknown
  readonly key: string
}

/** API clients that never give up a request. Each attempt goes to the next of the services. */
export const createRequests = (apiUrls: readonly string[]): Requests => {
  let unanswered = 0
  let turn = 0

  const send = async (tenant: Tenant, path: string, message?: Message): Promise<Response> => {
    turn += 1
    const url = apiUrls[turn % apiUrls.length] ?? ''
    return fetch(url + path, {
      signal: AbortSignal.timeout(requestTimeoutMs),
      headers: {
        authorization: `Bearer ${tenant.key}`,
        ...(message && { 'content-type': 'application/json', 'idempotency-key': message.key }),
      },
      ...(message && { method: 'POST', body: JSON.stringify(message.body) }),
    })
  }

  const tryOnce = async (tenant: Tenant, path: string, message?: Message) => {
    try {
      const response = await send(tenant, path, message)
      const answer = (await response.json()) as Answer
      if (response.status < 500) return { response, answer }
    } catch {
      // Killed before or during its response: the effect is unknown.
    }
    unanswered += 1
    return undefined
  }

  return {
    async post(tenant, path, body, key = randomUUID()) {
      const deadlineMs = performance.now() + patienceMs
      for (let sent = 1; performance.now() < deadlineMs; sent += 1) {
        const got = await tryOnce(tenant, path, { body, key })
        if (got && !temporary.has(got.answer.error?.code ?? '')) {
          const { status, headers: answered } = got.response
          const isReplay = answered.get('idempotent-replayed') === 'true'
          return { tenant, path, body, key, status, answer: got.answer, isReplay, sent }
        }
        await delay(retryDelayMs)
      }
      throw new Error(`POST ${path} had no answer for ${patienceMs / 1000} s`)
    },
    async get(tenant, path) {
      return (await tryOnce(tenant, path))?.answer
    },
    unanswered: () => unanswered,
  }
}
