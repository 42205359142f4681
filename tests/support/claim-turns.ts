import type { Database } from '../../src/database/database.ts'
import type { ClaimedCall } from '../../src/dispatch/claim/claim-calls.ts'
import { takeClaimTurn } from '../../src/dispatch/claim/claim-turn.ts'

/** What one turn of a dispatcher with this many channels starts. */
export const startedInTurn = async (
  database: Database,
  nodeId: string,
  channels = 50,
): Promise<ClaimedCall[]> => {
  const started: ClaimedCall[] = []
  await takeClaimTurn({
    database,
    nodeId,
    routes: ['env'],
    freeChannels: () => channels - started.length,
    start: (call) => started.push(call),
  })
  return started
}
