import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { signUrl } from '../../../src/storage/signed-url.ts'
import { until } from '../../support/until.ts'
import type { Attack } from '../stage/attack.ts'
import type { Stage } from '../stage/stage.ts'

const talkMs = 1_500
/** A recording is encoded after its call; a new secret signs once every node knows it. */
const patienceMs = 40_000
/** Nodes reload secrets every three seconds. */
const lookedMs = 6_000

/** URLs of recordings: altered or foreign ones open nothing, and a rotation ends a leaked secret. */
export const signingSecret: Attack = {
  name: 'signing-secret',
  goal: 'only URLs of our secrets open recordings; a rotation keeps them until they expire, a retired secret opens none',
  isLong: true,
  async run(stage) {
    const { product, database } = stage
    const problems: string[] = []
    const call = await stage.openCall()
    await delay(talkMs)
    await call.leg.request('BYE')
    const old = await until('a recording', () => urlOf(stage, call.id), { timeoutMs: patienceMs })
    if ((await statusOf(old)) !== 200) problems.push('a good URL was refused')
    let refused = await judgeForged(old, problems)

    const { key_id: keyId } = await product.ask<{ key_id: string }>('media-secret', 'rotate')
    if ((await statusOf(old)) !== 200) problems.push('the rotation cut URLs that are still valid')
    const fresh = await until(
      'a URL of the new secret',
      async () => {
        const url = await urlOf(stage, call.id)
        return url?.searchParams.get('k') === keyId ? url : undefined
      },
      { timeoutMs: patienceMs },
    )
    if ((await statusOf(fresh)) !== 200) problems.push('a URL of the new secret was refused')
    refused += await judgeForged(fresh, problems)
    const renamed = new URL(old)
    renamed.searchParams.set('k', keyId)
    refused += await judge('the old signature under the new name', renamed, problems)

    // As two hours later.
    await database.query(
      `delete from installation_secrets where purpose = 'media' and key_id <> $1`,
      [keyId],
    )
    await delay(lookedMs)
    refused += await judge('a URL of a retired secret', old, problems)
    if ((await statusOf(fresh)) !== 200) problems.push('the new secret went with the old one')
    return { figure: `${refused} URLs refused, secret ${keyId} signs`, problems }
  },
}

const urlOf = async ({ tenant }: Stage, callId: string): Promise<URL | undefined> => {
  const { body } = await tenant.request('GET', `/recordings?include=download_url&call_id=${callId}`)
  const [recording] = (body['data'] ?? []) as { readonly download_url?: string }[]
  return recording?.download_url === undefined ? undefined : new URL(recording.download_url)
}

const statusOf = async (url: URL): Promise<number> => {
  const response = await fetch(url)
  await response.arrayBuffer()
  return response.status
}

/** 1 if it was refused. */
const judge = async (name: string, url: URL, problems: string[]): Promise<number> => {
  const status = await statusOf(url)
  if (status !== 403) problems.push(`${name} was answered ${status}`)
  return status === 403 ? 1 : 0
}

/** Alterations of a known URL. */
const judgeForged = async (url: URL, problems: string[]): Promise<number> => {
  const recordingId = url.pathname.split('/').at(-1) ?? ''
  const expires = Number(url.searchParams.get('e'))
  const keyId = url.searchParams.get('k') ?? ''
  const grant = { origin: url.origin, recordingId, expiresAt: new Date(expires) }
  const changed = (name: string, value: string): URL => {
    const forged = new URL(url)
    forged.searchParams.set(name, value)
    return forged
  }
  const repeated = new URL(url)
  repeated.searchParams.append('e', String(expires + 1))
  const other = new URL(url)
  other.pathname = other.pathname.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  const forged = {
    'a longer life': changed('e', String(expires + 86_400_000)),
    'an expiry twice': repeated,
    'another recording': other,
    'another nonce': changed('n', 'AAAAAAAAAAA'),
    'no signature': changed('s', ''),
    'a signature of zeros': changed('s', Buffer.alloc(32).toString('base64url')),
    'an unknown secret': changed('k', '999'),
    'a foreign secret': new URL(signUrl({ ...grant, key: { keyId, secret: randomBytes(32) } })),
    'an empty secret': new URL(signUrl({ ...grant, key: { keyId, secret: Buffer.alloc(0) } })),
  }
  let refused = 0
  for (const [name, each] of Object.entries(forged)) refused += await judge(name, each, problems)
  return refused
}
