import { randomUUID } from 'node:crypto'

/** A bearer-key client of the API, as small as an integrator would write it. */
export const createApiClient = (apiUrl: string, key: string) => {
  const send = async (method: string, path: string, body?: unknown, idempotencyKey?: string) => {
    const response = await fetch(apiUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- tests read answers of every shape
      body: (text === '' ? {} : JSON.parse(text)) as Record<string, never>,
    }
  }
  return {
    get: (path: string) => send('GET', path),
    post: (path: string, body: unknown, idempotencyKey: string = randomUUID()) =>
      send('POST', path, body, idempotencyKey),
  }
}

export type ApiClient = ReturnType<typeof createApiClient>

export const terminalStates = ['completed', 'failed', 'cancelled']
