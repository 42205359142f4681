import type { Attack } from '../stage/attack.ts'
import { judgeProbes } from '../stage/judge-probes.ts'

const rounds = 5
const atOnce = 400
/** A pool and a few listeners; 400 requests must not become 400 connections. */
const maxConnections = 60

/** Four hundred simultaneous readiness requests, together with a command. */
export const readyzFlood: Attack = {
  name: 'readyz-flood',
  goal: '/readyz stays 200, opens no connection to the database per request, the command line works',
  isTimed: true,
  async run({ product, prober, database }, limits) {
    await prober.reset()
    let refused = 0
    let peak = 0
    let isOver = false
    const watch = async (): Promise<void> => {
      while (!isOver) {
        const { rows } = await database.query<{ count: string }>(
          'select count(*) from pg_stat_activity where datname = current_database()',
        )
        peak = Math.max(peak, Number(rows[0]?.count))
      }
    }
    const watching = watch()
    const command = product.run('org', 'list', '--json')
    for (let round = 0; round < rounds; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: atOnce }, () =>
          fetch(`${product.apiUrl}/readyz`).then(
            async (response) => {
              await response.arrayBuffer()
              return response.status
            },
            () => 0,
          ),
        ),
      )
      refused += answers.filter((status) => status !== 200).length
    }
    const { status } = await command
    isOver = true
    await watching
    const judged = judgeProbes(await prober.read(), limits)
    return {
      ...judged,
      figure: `${refused} of ${rounds * atOnce} not ready, ${peak} database connections, ${judged.figure}`,
      problems: [
        ...judged.problems,
        ...(refused > 0 ? [`${refused} answers were not 200`] : []),
        ...(peak > maxConnections ? [`${peak} connections to the database`] : []),
        ...(status === 0 ? [] : [`the command line ended with ${status}`]),
      ],
    }
  },
}
