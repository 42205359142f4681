import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { makeApiKey } from '../../../src/domains/api-keys/api-key-format.ts'
import { strangerAddress } from '../stage/addresses.ts'
import type { Attack } from '../stage/attack.ts'
import { judgeProbes } from '../stage/judge-probes.ts'
import type { Stage } from '../stage/stage.ts'

const requests = 4_000
const connections = 40
/** Above the guard of an address, far below one for each key. */
const maxLookups = 1_000
/** PostgreSQL reports its counters with this delay at most. */
const statisticsDelayMs = 1_500

/** Keys of the right form and checksum that were never created. */
export const inventedKeys: Attack = {
  name: 'invented-keys',
  goal: 'a flood of invented keys is refused before the database is asked',
  isTimed: true,
  async run(stage, limits) {
    const { product, tenant, prober } = stage
    await prober.reset()
    const before = await countLookups(stage)
    const agent = new Agent({ keepAlive: true, maxSockets: connections })
    const statuses = new Map<number, number>()
    const send = (): Promise<void> =>
      new Promise((resolve) => {
        const { secret: key } = makeApiKey()
        request(
          {
            host: '127.0.0.1',
            port: product.home.apiPort,
            localAddress: strangerAddress(90),
            path: '/calls',
            agent,
            headers: { authorization: `Bearer ${key}` },
          },
          (response) => {
            const { statusCode = 0 } = response
            statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1)
            response.resume()
            response.on('end', resolve)
          },
        )
          .on('error', () => resolve())
          .end()
      })
    const worker = async (): Promise<void> => {
      for (let count = 0; count < requests / connections; count += 1) await send()
    }
    await Promise.all(Array.from({ length: connections }, worker))
    agent.destroy()
    await delay(statisticsDelayMs)
    const lookups = (await countLookups(stage)) - before
    const judged = judgeProbes(await prober.read(), limits)
    const own = await tenant.request('GET', '/calls')
    const refused = (statuses.get(401) ?? 0) + (statuses.get(429) ?? 0)
    return {
      ...judged,
      figure: `${requests} keys, ${lookups} look-ups, ${judged.figure}`,
      problems: [
        ...judged.problems,
        ...(lookups > maxLookups ? [`${lookups} look-ups for ${requests} keys`] : []),
        ...(own.status === 200 ? [] : [`a good key was answered ${own.status}`]),
        ...(refused > 0 ? [] : ['no key was refused']),
        ...(statuses.has(200) ? ['an invented key was accepted'] : []),
      ],
    }
  },
}

/** Scans of the table of keys and of its indexes, as PostgreSQL counts them. */
const countLookups = async ({ database }: Stage): Promise<number> => {
  const { rows } = await database.query<{ scans: string }>(
    `select coalesce(seq_scan, 0) + coalesce(idx_scan, 0) as scans
       from pg_stat_user_tables where relname = 'api_keys'`,
  )
  return Number(rows[0]?.scans ?? 0)
}
