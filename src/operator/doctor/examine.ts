import type { Config } from '../../config/read-config.ts'
import type { Database } from '../../database/database.ts'
import { NoInstallationError } from '../../database/setup-error.ts'
import { checkCertificate } from './check-certificate.ts'
import { checkCircuit } from './check-circuit.ts'
import { checkDatabase } from './check-database.ts'
import { checkDisk } from './check-disk.ts'
import { checkDownloads } from './check-downloads.ts'
import { checkEngine } from './check-engine.ts'
import { checkLive } from './check-live.ts'
import { checkNumbers } from './check-numbers.ts'
import { createSecretBox } from '../../domains/organizations/secret-box.ts'
import { checkPorts } from './check-ports.ts'
import { checkProviders } from './check-providers.ts'
import { checkTrunk } from './check-trunk.ts'
import { failed, messageOf, warning, type Finding } from './finding.ts'
import { checkNodeSettings } from './node-settings.ts'

/**
 * Checks everything that an installation needs. Never throws: a check that fails to run is a finding too. With
 * `callNumber` (E.164) it also places a call over the trunk, which ends as soon as the phone rings.
 */
export const examine = async (
  config: Config,
  openDatabase: <T>(work: (db: Database) => Promise<T>) => Promise<T>,
  callNumber?: string,
): Promise<Finding[]> => {
  const onDatabase = openDatabase(async (db) => [
    ...(await checkDatabase(db, config.store)),
    ...(await checkNodeSettings(config, db)),
    ...(await checkLive(config, db)),
    ...(await checkCircuit(db)),
    ...(await checkNumbers(db)),
    ...(await checkProviders(db, createSecretBox({ ...config.program, ...config.store }))),
  ]).catch((error: unknown) => [
    error instanceof NoInstallationError
      ? warning('database', error.message)
      : failed('database', messageOf(error)),
  ])
  const findings = await Promise.all([
    onDatabase,
    checkDisk(config.store.dataFolder),
    Promise.resolve(checkCertificate(config.sip)),
    checkTrunk(config.sip, callNumber),
    checkEngine(config.engines),
    checkPorts(config),
    Promise.resolve(checkDownloads(config)),
  ])
  return findings.flat()
}
