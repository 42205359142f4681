import type { TestContext } from 'node:test'
import type { CallBackAnswer } from '../../src/contract/calls-back.ts'
import type { Database } from '../../src/database/database.ts'
import {
  listCallsBack,
  listUnownedCallsBack,
  type CallBackRecord,
} from '../../src/domains/calls-back/calls-back-store.ts'
import { createFindOurNumber } from '../../src/domains/calls-back/our-numbers.ts'
import type { TrunkInput } from '../../src/domains/trunks/trunk-settings.ts'
import { createCallsBack } from '../../src/live-call/calls-back/calls-back.ts'
import { createMessagePlayer } from '../../src/live-call/calls-back/message-player.ts'
import type { MessageSpeech } from '../../src/live-call/calls-back/message-speech.ts'
import { createPlayMessage } from '../../src/live-call/calls-back/play-message.ts'
import { socketOf } from '../../src/live-call/call/prepare-by-route.ts'
import { createTrunkFleet } from '../../src/live-call/trunks/trunk-fleet.ts'
import { nationalDigits } from '../../src/numbering/national-number.ts'
import { silentLogger, type Logger } from '../../src/runtime/logger.ts'
import type { Telemetry } from '../../src/runtime/telemetry.ts'
import { createCallingOrganization } from './queue-fixtures.ts'
import { createTestDatabase } from './test-database.ts'
import { insertTrunk, testBox } from './trunk-fixtures.ts'
import { until } from './until.ts'

export const ourNumber = '+12025550199'

interface RigOptions {
  /** The trunk: the SIP port of the peer at 127.0.0.1. */
  readonly trunkPort: number
  readonly trunk?: Partial<TrunkInput>
  readonly installation?: CallBackAnswer
  readonly channels?: number
  readonly speech?: MessageSpeech
  readonly logger?: Logger
  /** Between the calls back and the database. */
  readonly withDatabase?: (db: Database) => Database
}

/** Silence of this length, in place of a synthesizer's speech. */
export const clipOf = (ms: number): MessageSpeech => ({
  clipOf: async () => new Int16Array(ms * 8).fill(8_000),
})

const noFault = {
  downReason: () => undefined,
  report: async () => {},
  prove: async () => {},
}

/** A node whose only trunk is a peer of the test, with the real SIP, RTP and database of calls back. */
export const startCallsBackRig = async (
  t: TestContext,
  {
    trunkPort,
    trunk = {},
    installation = { kind: 'decline', status: 603 },
    channels = 4,
    speech = clipOf(200),
    logger = silentLogger,
    withDatabase = (db) => db,
  }: RigOptions,
) => {
  const database = await createTestDatabase()
  const { db } = database
  const counts = new Map<string, number>()
  const telemetry: Telemetry = {
    observe: () => {},
    count: (name, labels) => {
      const key = `${name} ${String(labels?.['result'] ?? labels?.['reason'] ?? '')}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    },
  }
  const organization = await createCallingOrganization(db)
  await insertTrunk(db, 'carrier', { uris: [`sip:127.0.0.1:${trunkPort}`], ...trunk })
  const player = createMessagePlayer(logger)
  const portRange = { min: 40_100, max: 43_998 }
  const callsBack = createCallsBack({
    database: withDatabase(db),
    findNumber: createFindOurNumber(ourNumber),
    installation,
    channels,
    playMessage: createPlayMessage({
      speech,
      player,
      socketOf: (line) => socketOf(line, portRange),
      logger,
    }),
    telemetry,
    logger,
  })
  const fleet = createTrunkFleet({
    database: db,
    box: testBox,
    environment: undefined,
    settings: {
      port: 0,
      allow: undefined,
      publicAddress: undefined,
      tlsCertificate: undefined,
      tlsKey: undefined,
      tlsPort: undefined,
      tlsAuthorities: undefined,
      tlsName: undefined,
      tlsMinVersion: '1.2',
      tlsVerify: 'required',
    },
    createCircuit: () => noFault,
    national: nationalDigits,
    onCallBack: callsBack.take,
    logger,
    telemetry,
  })
  await fleet.start()
  t.after(async () => {
    await fleet.stop()
    await callsBack.stop()
    await player.stop()
    await database.drop()
  })
  const port = fleet.find('carrier')?.agent.userAgent.localPort ?? 0
  const owned = () => listCallsBack(db, organization.organizationId, 100)
  /** When as many calls back are noted as over. */
  const noted = (count: number, list = owned): Promise<readonly CallBackRecord[]> =>
    until(
      `${count} calls back`,
      async () => {
        const rows = (await list()).filter(({ sip_status: status }) => status !== null)
        return rows.length >= count ? rows : undefined
      },
      { timeoutMs: 90_000 },
    )
  return {
    db,
    organization,
    port,
    target: `sip:${ourNumber}@127.0.0.1:${port}`,
    counts,
    noted,
    notedUnowned: (count: number) => noted(count, () => listUnownedCallsBack(db, 100)),
    all: owned,
  }
}
