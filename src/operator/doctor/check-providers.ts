import type { Queryable } from '../../database/database.ts'
import type { SecretBox } from '../../domains/organizations/secret-box.ts'
import { openProvider } from '../../domains/providers/find-provider.ts'
import { listProviderRows } from '../../domains/providers/provider-store.ts'
import { testProvider } from '../test-provider.ts'
import { failed, ok, type Finding } from './finding.ts'

/** So many are tried at once. */
const atATime = 8
/** More would take minutes; provider test tries each of them. */
const maxTried = 40

/** Lets each provider of the database do a moment of its work. Empty if the database has no table for it yet. */
export const checkProviders = async (db: Queryable, box: SecretBox): Promise<Finding[]> => {
  const rows = (await listProviderRows(db).catch(() => [])).slice(0, maxTried)
  const findings: Finding[] = []
  for (let at = 0; at < rows.length; at += atATime) {
    const some = rows.slice(at, at + atATime).map(async (row) => {
      const provider = openProvider(row, box)
      if (typeof provider === 'string') return failed('engine', provider)
      const result = await testProvider(provider)
      return (result.ok ? ok : failed)('engine', result.message)
    })
    findings.push(...(await Promise.all(some)))
  }
  return findings
}
