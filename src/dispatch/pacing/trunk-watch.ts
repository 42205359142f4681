import type { Database } from '../../database/database.ts'
import type { Logger } from '../../runtime/logger.ts'
import { repeat, type Repeating } from '../../runtime/repeating.ts'
import type { Service } from '../../runtime/service.ts'
import { systemTime, type Time } from '../../runtime/time.ts'
import { circuitStates } from './circuit-store.ts'
import { raisePaces } from './pace-store.ts'
import { stepIntervalMs, type TrunkCircuit } from './trunk-circuit.ts'

interface TrunkWatchOptions {
  readonly database: Database
  /** The circuits of this node's gateways now. */
  readonly circuits: () => readonly TrunkCircuit[]
  readonly logger: Logger
  /** For tests with a manual clock. */
  readonly time?: Time
}

/** Steps every circuit of this node, and the pace of congested trunks, once a second. */
export const createTrunkWatch = ({
  database,
  circuits,
  logger,
  time = systemTime,
}: TrunkWatchOptions): Service => {
  let stepping: Repeating | undefined
  const step = async (): Promise<void> => {
    for (const trunk of await raisePaces(database))
      logger.warn({ trunk }, 'the carrier takes all calls again')
    const states = await circuitStates(database)
    await Promise.all(
      circuits().map((circuit) => {
        const { trunk, uri } = circuit.gateway
        return circuit.step(states.find((state) => state.trunk === trunk && state.uri === uri))
      }),
    )
  }
  return {
    start: async () => {
      stepping ??= repeat({
        name: 'circuits',
        intervalMs: stepIntervalMs,
        work: step,
        time,
        logger,
      })
    },
    stop: async () => {
      await stepping?.stop()
    },
  }
}
