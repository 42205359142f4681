/**
 * From hang-up to a downloadable recording: the finishing transaction, the job, the encoder, storage, and the
 * commit that lists it, over the embedded PostgreSQL with fsync on. Then the encoding speed of one core relative to
 * real time. Usage: `npm run bench recording -- [seconds of audio for the second part]`.
 */
import { open, mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { encodeG711 } from '../src/audio/g711.ts'
import { sql, type Database } from '../src/database/database.ts'
import { startEmbedded } from '../src/database/embedded-postgres.ts'
import { migrate } from '../src/database/migrate.ts'
import { openDatabase } from '../src/database/open-database.ts'
import { JobRunner } from '../src/jobs/job-runner.ts'
import { createAgent } from '../src/domains/agents/create-agent.ts'
import { placeManualCall } from '../src/domains/calls/place-manual-call.ts'
import { createOrganization } from '../src/domains/organizations/create-organization.ts'
import {
  completeRecording,
  failRecording,
  recordingStatus,
} from '../src/domains/recordings/recording-store.ts'
import { createThreadEncoder } from '../src/live-call/recording/encode-in-thread.ts'
import { createEncodeRecording } from '../src/live-call/recording/encode-recording.ts'
import { createCallLedger } from '../src/live-call/call/call-ledger.ts'
import { encodingTask, summaryTask, type CallJob } from '../src/live-call/call/follow-up-jobs.ts'
import type { DialableCall } from '../src/domains/calls/lifecycle/hand-over.ts'
import { encodeSpoolHeader, spoolSuffix } from '../src/live-call/recording/spool-format.ts'
import { createRecordingStore } from '../src/live-call/recording/store-recording.ts'
import type { OrganizationId } from '../src/contract/organization-id.ts'
import { newId } from '../src/runtime/ids.ts'
import { silentLogger } from '../src/runtime/logger.ts'
import { createFolderStorage } from '../src/storage/folder-storage.ts'
import { createEndCall } from '../src/domains/calls/lifecycle/end-call.ts'
import {
  keepRecording,
  openResultsOfCalls,
  storeConversation,
} from '../src/live-call/call/call-end-subscribers.ts'

const callSeconds = 300
const calls = 10
const goalMs = 2_000
const limitMs = 60_000
const longSeconds = 10_000
const sampleRateHz = 8_000
const encodeInThread = createThreadEncoder()

const main = async (): Promise<void> => {
  const seconds = Number(process.argv[2] ?? longSeconds)
  const folder = await mkdtemp(join(tmpdir(), 'outdial-bench-'))
  try {
    const readyMs = await measureCalls(folder)
    const worst = Math.max(...readyMs)
    const median = readyMs.toSorted((a, b) => a - b)[Math.floor(readyMs.length / 2)] ?? 0
    console.log(
      `${calls} calls of ${callSeconds} s, one after the other: median ${median.toFixed(0)} ms, slowest ${worst.toFixed(0)} ms`,
    )
    const { times, timesPerCore, megabytes } = await measureEncoder(folder, seconds)
    console.log(
      `${seconds} s of audio: ${times.toFixed(0)} × as fast as heard, ${timesPerCore.toFixed(0)} × per core, ${megabytes.toFixed(1)} MB`,
    )
    console.log(
      `recording: ${(worst / 1000).toFixed(2)} s from hang-up to download, ${timesPerCore.toFixed(0)} × real time per core (goal 2 s): ${worst <= goalMs ? 'reached' : 'missed'}`,
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Milliseconds from the end of each call to its listed recording. */
const measureCalls = async (folder: string): Promise<number[]> => {
  const server = await startEmbedded(join(folder, 'data'))
  const { connection } = server
  const migrations = join(import.meta.dirname, '../migrations')
  await migrate({ connection, folder: migrations, logger: silentLogger })
  const database = openDatabase({ connection, logger: silentLogger })
  const spoolFolder = join(folder, 'spool')
  await mkdir(spoolFolder)
  const encode = createEncodeRecording({
    spoolFolder,
    encode: encodeInThread,
    ...createRecordingStore(createFolderStorage(join(folder, 'recordings'))),
    markReady: (call, recording) => completeRecording(database, call, recording),
    markFailed: async (call) => void (await failRecording(database, call)),
    logger: silentLogger,
  })
  const jobs = new JobRunner({
    connection,
    database,
    schedule: [],
    tasks: {
      [encodingTask]: (payload) => encode(payload as CallJob, new AbortController().signal),
      [summaryTask]: async () => undefined,
    },
    logger: silentLogger,
  })
  await jobs.start()
  try {
    const readyMs: number[] = []
    for (let count = 0; count < calls; count += 1)
      readyMs.push(await measureCall(database, await connectCall(database), spoolFolder))
    return readyMs
  } finally {
    await jobs.stop()
    await database.stop()
    await server.stop()
  }
}

/** An answered call. */
const connectCall = async (db: Database): Promise<DialableCall> => {
  const { id: organizationId } = await createOrganization(db, { name: 'Benchmark' })
  const { id: agentId } = await createAgent(db, organizationId, {
    name: 'Agent',
    greeting: 'Hello.',
    prompt: 'Talk.',
    voicemail: 'hang_up',
  })
  const phoneNumber = '+12025550100'
  const { id: callId, contact_id: contactId } = await db.transaction((tx) =>
    placeManualCall(tx, organizationId, { agentId, phoneNumber }),
  )
  const leaseToken = newId()
  await db.run(
    sql(
      'benchmark.connect',
      `update calls set status = 'in_progress', dialing_at = now(), connected_at = now(), lease_token = $2
        where id = $1`,
    ),
    [callId, leaseToken],
  )
  return {
    organizationId,
    callId,
    contactId,
    agentId,
    agentVersion: 1,
    phoneNumber,
    leaseToken,
    origin: 'manual',
    route: 'sandbox',
    attempt: 1,
    mayInvite: () => true,
  }
}

const measureCall = async (
  db: Database,
  call: DialableCall,
  spoolFolder: string,
): Promise<number> => {
  const path = join(spoolFolder, call.callId + spoolSuffix)
  await writeSpool(path, call, callSeconds)
  const ledger = createCallLedger({
    database: db,
    endCall: createEndCall([storeConversation, keepRecording, openResultsOfCalls]),
    encodingTask,
  })
  const hungUpAtMs = performance.now()
  await ledger.finish(call, {
    ending: { status: 'completed', answerStatus: 'answered' },
    answered: {
      connectedAt: new Date(),
      durationSeconds: callSeconds,
      optedOut: false,
      unsavedTurns: [],
      turnCount: 0,
      report: {
        durationMs: callSeconds * 1000,
        recordingPath: path,
        framesLost: 0,
        usage: undefined,
        reportedOutcome: undefined,
        rtp: { packetsSent: 0, packetsReceived: 0, packetsLost: 0 },
        quality: [],
      },
    },
  })
  for (;;) {
    const status = await recordingStatus(db, call)
    const tookMs = performance.now() - hungUpAtMs
    if (status === 'ready') return tookMs
    if (status !== 'encoding' || tookMs > limitMs)
      throw new Error(`The recording is ${status} after ${tookMs.toFixed(0)} ms.`)
    await delay(5)
  }
}

const measureEncoder = async (folder: string, seconds: number) => {
  const path = join(folder, 'long.spool')
  await writeSpool(
    path,
    { organizationId: 'organization' as OrganizationId, callId: 'long' },
    seconds,
  )
  const startedAtMs = performance.now()
  const cpuBefore = process.cpuUsage()
  await encodeInThread(path, `${path}.mp3`, new AbortController().signal)
  const { user, system } = process.cpuUsage(cpuBefore)
  const tookSeconds = (performance.now() - startedAtMs) / 1000
  return {
    times: seconds / tookSeconds,
    timesPerCore: seconds / ((user + system) / 1e6),
    megabytes: (await stat(`${path}.mp3`)).size / 1e6,
  }
}

/** Ten seconds of two people who take turns, repeated: voiced, modulated, with noise. */
const writeSpool = async (
  path: string,
  call: { readonly organizationId: OrganizationId; readonly callId: string },
  seconds: number,
): Promise<void> => {
  const [agent, contact] = [talk(0), talk(1)]
  const interleaved = Buffer.alloc(agent.length * 2)
  for (const [index, byte] of agent.entries()) {
    interleaved[index * 2] = byte
    interleaved[index * 2 + 1] = contact[index] ?? 0xff
  }
  const file = await open(path, 'wx')
  try {
    const { organizationId, callId } = call
    const startedAt = new Date().toISOString()
    await file.appendFile(
      encodeSpoolHeader({ version: 1, codec: 'pcmu', organizationId, callId, startedAt }),
    )
    for (let left = seconds * sampleRateHz * 2; left > 0; left -= interleaved.length)
      await file.appendFile(interleaved.subarray(0, left))
  } finally {
    await file.close()
  }
}

const talk = (side: 0 | 1): Uint8Array =>
  encodeG711(
    'pcmu',
    Int16Array.from({ length: 10 * sampleRateHz }, (_, index) => {
      const second = index / sampleRateHz
      const isTalking = Math.floor(second / 2.5) % 2 === side
      const envelope = isTalking ? 0.5 + 0.5 * Math.sin(2 * Math.PI * 4 * second) : 0.01
      const voice = Math.sin(2 * Math.PI * (120 + 40 * Math.sin(3 * second)) * second)
      const formant = Math.sin(2 * Math.PI * 1_100 * second)
      const noise = ((index * 1_103_515_245 + 12_345) % 65_536) / 65_536 - 0.5
      return Math.round(9_000 * envelope * (voice + 0.5 * formant + 0.4 * noise))
    }),
  )

await main()
