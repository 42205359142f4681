import { until } from '../../support/until.ts'
import type { Product } from './product.ts'

const number = '+12025550107'
const callTimeoutMs = 60_000
const terminal = ['completed', 'failed', 'cancelled']

/** Runs a call with the key of the first start to its end; returns its last state. */
export const openSandboxCall = async ({ apiUrl, started }: Product): Promise<string> => {
  const first = started.first_start
  if (!first) return 'nowhere: no key was printed'
  const headers = {
    authorization: `Bearer ${first.api_key}`,
    'content-type': 'application/json',
    'idempotency-key': `sandbox-${Math.random()}`,
  }
  const placed = await fetch(`${apiUrl}/calls`, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      agent_id: first.agent_id,
      recipient: { external_id: 'sandbox', name: 'Sandbox', phone_number: number },
    }),
  })
  const { id } = (await placed.json()) as { id?: string }
  if (id === undefined) return `refused with ${placed.status}`
  return until(
    'the call to end',
    async () => {
      const response = await fetch(`${apiUrl}/calls/${id}`, { headers })
      const { status = '' } = (await response.json()) as { status?: string }
      return terminal.includes(status) ? status : undefined
    },
    { timeoutMs: callTimeoutMs },
  )
}
