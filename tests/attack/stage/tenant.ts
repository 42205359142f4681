import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { linePrompt } from './engine-session.ts'
import type { Product } from './product.ts'

/** An organization whose calls go to the trunk, with a key for everything. */
export interface Tenant {
  readonly id: string
  readonly key: string
  /** Publishes an agent; returns `undefined` with the refusal if it is refused. */
  publishAgent(members?: object): Promise<{ id?: string; refusal?: string }>
  /** Places a call; resolves with the status and the body of the response. */
  call(agentId: string, number: string, name: string): Promise<ApiAnswer>
  request(method: string, path: string, body?: object): Promise<ApiAnswer>
}

export interface ApiAnswer {
  readonly status: number
  readonly body: { readonly id?: string; readonly [member: string]: unknown }
}

const allHours = {
  time_zone: 'UTC',
  windows: [
    {
      weekdays: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'],
      start_time: '00:00',
      end_time: '24:00',
    },
  ],
}

const buckets = ['read', 'write', 'execution', 'transcript', 'recording'] as const
const requestsPerMinute = 1_000_000

export const agentFile = {
  name: 'Line',
  greeting: 'Hello.',
  prompt: linePrompt,
  voicemail: 'hang_up',
  max_duration_seconds: 3600,
} as const

export const openTenant = async (
  product: Product,
  name: string,
  allowedCountries: 'all' | readonly string[] = 'all',
): Promise<Tenant> => {
  const policy = { ...allHours, allowed_countries: allowedCountries }
  const { id } = await withFile(policy, (file) =>
    product.ask<{ id: string }>('org', 'create', '--name', name, '--policy', file),
  )
  const rates = buckets.flatMap((bucket) => ['--rate', `${bucket}=${requestsPerMinute}`])
  await product.ask('org', 'set', id, '--concurrency', '60', ...rates)
  const keyWords = ['--org', id, '--name', 'attack', '--scopes', 'all']
  const { secret } = await product.ask<{ secret: string }>('key', 'create', ...keyWords)
  let placed = 0
  const request: Tenant['request'] = async (method, path, body) => {
    const response = await fetch(product.apiUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        'idempotency-key': `attack-${process.pid}-${(placed += 1)}`,
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as ApiAnswer['body'] }
  }
  return {
    id,
    key: secret,
    request,
    publishAgent: (members = {}) =>
      withFile({ ...agentFile, ...members }, async (file) => {
        const result = await product.run('agent', 'create', '--org', id, '--file', file, '--json')
        return result.status === 0
          ? (JSON.parse(result.stdout) as { id: string })
          : { refusal: result.stderr.trim() }
      }),
    call: (agentId, number, contactName) =>
      request('POST', '/calls', {
        agent_id: agentId,
        recipient: { external_id: number, name: contactName, phone_number: number },
      }),
  }
}

const withFile = async <T>(content: object, use: (file: string) => Promise<T>): Promise<T> => {
  const folder = mkdtempSync(join(tmpdir(), 'outdial-attack-file-'))
  try {
    const file = join(folder, 'content.json')
    writeFileSync(file, JSON.stringify(content))
    return await use(file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
