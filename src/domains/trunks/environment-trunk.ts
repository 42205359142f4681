import { sql, type Database } from '../../database/database.ts'
import { pacingOf } from './pacing.ts'
import { environmentTrunk, trunkSettings } from './trunk-settings.ts'
import { deleteTrunkRow, trunksChannel, writeTrunk } from './trunk-store.ts'

/** The trunk of OUTDIAL_SIP_TRUNK, without its secrets: they stay in the environment of its node. */
export interface EnvironmentTrunk {
  /** Without user and password. */
  readonly uri: string
  readonly user?: string | undefined
  readonly media?: 'declared' | 'symmetric' | undefined
  readonly auth?: 'rfc2069' | 'md5' | 'sha-256' | 'sha-512-256' | undefined
  readonly srtp?: 'off' | 'preferred' | 'required' | undefined
  readonly dtmf?: 'auto' | 'rfc4733' | 'info' | 'inband' | undefined
  readonly redirectTo?: readonly string[] | undefined
  readonly channels?: number | undefined
  readonly callsPerSecond: number
}

const lockStatement = sql(
  'environment-trunk.lockTrunk',
  `select name from trunks where name = '${environmentTrunk}' for update`,
)

const servedStatement = sql(
  'environment-trunk.isServed',
  `select exists (select from nodes
                   where lease_until > clock_timestamp()
                     and rescued_at is null
                     and settings ? 'OUTDIAL_SIP_TRUNK') as is_served`,
)

/** Shows this node's trunk among the others, or removes the row if no node has it any more. The last start decides. */
export const publishEnvironmentTrunk = (
  db: Database,
  trunk: EnvironmentTrunk | undefined,
): Promise<void> =>
  db.transaction(async (tx) => {
    await tx.run(lockStatement, [])
    tx.hintAfterCommit(trunksChannel)
    if (trunk === undefined) {
      const row = await tx.row<{ is_served: boolean }>(servedStatement, [])
      // Deleting no row also sums up the trunks anew.
      if (row?.is_served !== true) await deleteTrunkRow(tx, environmentTrunk)
      return
    }
    const { uri, user, media, auth, srtp, dtmf, redirectTo, channels, callsPerSecond } = trunk
    const { burst, refillPerSecond } = pacingOf(callsPerSecond)
    const values = {
      name: environmentTrunk,
      settings: trunkSettings.parse({
        uris: [uri],
        ...(user !== undefined && { user }),
        ...(media !== undefined && { media }),
        ...(auth !== undefined && { auth }),
        ...(srtp !== undefined && { srtp }),
        ...(dtmf !== undefined && { dtmf }),
        ...(redirectTo !== undefined && { redirect_to: [...redirectTo] }),
      }),
      secrets: null,
      priority: 10,
      weight: 1,
      channels: channels ?? null,
      callsPerSecond,
      burst,
      refillPerSecond,
      countries: null,
      organizations: null,
    }
    await writeTrunk(tx, values, [uri], true)
  })
