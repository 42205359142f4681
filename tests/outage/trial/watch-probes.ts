import pg from 'pg'
import { embeddedConnection } from '../../support/embedded-connection.ts'

const pollMs = 250
/** The next instant is this long after the probe (`src/dispatch/pacing/circuit-store.ts`). */
const intervalMs = 5_000

/**
 * Follows the instants at which the service asks a gateway with OPTIONS, whether or not the packets arrive anywhere: each
 * moves the instant of the next one.
 */
export const watchProbes = async (data: string) => {
  const client = new pg.Client(embeddedConnection(data))
  await client.connect()
  const pings: number[] = []
  let last: number | undefined
  let reading = Promise.resolve()
  const read = async (): Promise<void> => {
    const { rows } = await client.query<{ ping_at: Date | null }>(
      `select ping_at from trunk_gateways where down_cause = 'unreachable'`,
    )
    const next = rows[0]?.ping_at?.getTime()
    // By the database's clock: a reading that comes late on a busy machine moves no probe.
    if (next !== undefined && last !== undefined && next !== last)
      pings.push(next - intervalMs - performance.timeOrigin)
    last = next ?? last
  }
  const timer = setInterval(() => {
    reading = reading.then(read)
  }, pollMs)
  return {
    pings: pings as readonly number[],
    stop: async () => {
      clearInterval(timer)
      await reading
      await client.end()
    },
  }
}
