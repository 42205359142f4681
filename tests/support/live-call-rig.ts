import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { summarize } from '../../src/call-text/summarize.ts'
import { builtInTools } from '../../src/conversation/tools/tools.ts'
import { ScriptedRealtimeServer } from '../../src/conversation/engines/scripted/scripted-realtime-server.ts'
import { findCall } from '../../src/domains/calls/call-store.ts'
import { isOnDoNotCallList } from '../../src/domains/organizations/do-not-call.ts'
import { completeRecording, failRecording } from '../../src/domains/recordings/recording-store.ts'
import { listTurns } from '../../src/domains/results/transcript-store.ts'
import { createThreadEncoder } from '../../src/live-call/recording/encode-in-thread.ts'
import { createEncodeRecording } from '../../src/live-call/recording/encode-recording.ts'
import { createCallLedger } from '../../src/live-call/call/call-ledger.ts'
import type { CallPlan } from '../../src/live-call/call/live-call-port.ts'
import type { DialableCall } from '../../src/domains/calls/lifecycle/hand-over.ts'
import { MediaUnavailableError, type MediaCall } from '../../src/live-call/media/media-port.ts'
import { MediaWorkerPool } from '../../src/live-call/media/media-worker-pool.ts'
import { createRecordingStore } from '../../src/live-call/recording/store-recording.ts'
import { createRunCall } from '../../src/live-call/call/run-call.ts'
import { createSummarizeCall } from '../../src/live-call/call/summarize-call.ts'
import { systemTime } from '../../src/runtime/time.ts'
import type { OrganizationId } from '../../src/contract/organization-id.ts'
import { newId } from '../../src/runtime/ids.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { createFolderStorage } from '../../src/storage/folder-storage.ts'
import { anySource } from '../../src/sip/gate/sources.ts'
import { createUserAgent } from '../../src/sip/user-agent/user-agent.ts'
import { personaVocabulary } from '../../src/telephony/sandbox/personas.ts'
import { SandboxCarrier } from '../../src/telephony/sandbox/sandbox-carrier.ts'
import { createSipCarrier } from '../../src/telephony/sip-carrier.ts'
import { parseTrunkUri } from '../../src/telephony/trunk-uri.ts'
import { createCallingOrganization, execute, queueCalls } from './queue-fixtures.ts'
import { createTestDatabase } from './test-database.ts'
import { endCall } from '../../src/compose/call-end.ts'

/**
 * The real parts of a live call: SIP, RTP, media worker, engine protocol, database; only HTTP and dispatch are
 * missing.
 */
export type LiveCallRig = Awaited<ReturnType<typeof startLiveCallRig>>

const outcomes = ['achieved', 'not_achieved', 'callback_requested', 'inconclusive'] as const

const planFor = (engineUrl: string, changes: Partial<CallPlan>): CallPlan => ({
  organizationId: '00000000-0000-4000-8000-000000000001' as OrganizationId,
  engine: { kind: 'realtime', url: engineUrl },
  callerId: '+12025550199',
  session: {
    instructions: 'You arrange an appointment for Tuesday morning.',
    greeting: 'Hello, this is Riverside Dental. Do you have a minute?',
    language: 'en-US',
    tools: builtInTools(outcomes),
  },
  maxDurationMs: 120_000,
  voicemail: 'hang_up',
  outcomes,
  httpTools: [],
  isRecorded: true,
  allowPrivateNetwork: false,
  ...changes,
})

/** On a busy machine no worker may have room for a moment; dispatch would bring such a call again. */
const openInTime = async (media: MediaWorkerPool, callId: string): Promise<MediaCall> => {
  const lastMs = performance.now() + 30_000
  for (;;) {
    try {
      return await media.open(callId)
    } catch (error) {
      if (!(error instanceof MediaUnavailableError) || performance.now() > lastMs) throw error
      await setTimeout(100)
    }
  }
}

export const startLiveCallRig = async ({
  workers = 1,
  rtpPorts = { min: 30_000, max: 33_998 },
  target,
}: {
  workers?: number
  rtpPorts?: { min: number; max: number }
  /** The trunk of its calls; by default the sandbox carrier. */
  target?: string
} = {}) => {
  const logger = silentLogger
  const spoolFolder = await mkdtemp(join(tmpdir(), 'outdial-rig-'))
  const database = await createTestDatabase()
  const { db } = database
  const engine = new ScriptedRealtimeServer({ vocabulary: personaVocabulary, logger })
  const sandbox = new SandboxCarrier({ logger, rtpPortRange: { min: 34_000, max: 37_998 } })
  const userAgent = createUserAgent({ sources: anySource, bindAddress: '127.0.0.1', logger })
  const media = new MediaWorkerPool({
    workers,
    channelsPerWorker: 500,
    socket: { bindAddress: '127.0.0.1', portRange: rtpPorts },
    logger,
  })
  await Promise.all([engine.start(), sandbox.start(), userAgent.start(), media.start()])
  const carrier = createSipCarrier({
    userAgent,
    trunk: parseTrunkUri(target ?? sandbox.target),
    sendsCallId: true,
    logger,
  })
  const organization = await createCallingOrganization(db, { concurrency: 1000 })
  const ledger = createCallLedger({
    database: db,
    endCall,
    encodingTask: 'encode_recording',
  })

  /** A call to this number whose `dialing` is committed. */
  const dial = async (phoneNumber: string): Promise<DialableCall> => {
    const [row] = await queueCalls(db, organization, 1, undefined, phoneNumber)
    if (!row) throw new Error('No call was queued.')
    return redial({
      organizationId: organization.organizationId,
      callId: row.id,
      contactId: organization.contactId,
      agentId: organization.agentId,
      agentVersion: 1,
      phoneNumber,
      leaseToken: '',
      origin: 'api',
      route: 'sandbox',
      attempt: 0,
      mayInvite: () => true,
    })
  }

  /** What dispatch does before it hands a call over. */
  const redial = async (call: DialableCall): Promise<DialableCall> => {
    const next = { ...call, leaseToken: newId(), attempt: call.attempt + 1 }
    await execute(
      db,
      `update calls set status = 'dialing', dialing_at = now(), lease_token = $3, attempt = $4
        where organization_id = $1 and id = $2 and status = 'queued'`,
      [call.organizationId, call.callId, next.leaseToken, next.attempt],
    )
    return next
  }

  const run = (
    call: DialableCall,
    signal: AbortSignal = new AbortController().signal,
    {
      ringTimeoutMs = 20_000,
      plan = {},
    }: { ringTimeoutMs?: number; plan?: Partial<CallPlan> } = {},
  ): Promise<void> =>
    createRunCall({
      carrier,
      media: { open: (callId) => openInTime(media, callId) },
      ledger,
      loadPlan: async () => ({ plan: planFor(engine.url, plan) }),
      ringTimeoutMs,
      maxHoldMs: 300_000,
      spoolFolder,
      clock: systemTime,
      logger,
    })(call, signal)

  const storage = createFolderStorage(join(spoolFolder, 'storage'))
  const encodeRecording = createEncodeRecording({
    spoolFolder,
    encode: createThreadEncoder(),
    ...createRecordingStore(storage),
    markReady: (call, audio) => completeRecording(db, call, audio),
    markFailed: async (call) => void (await failRecording(db, call)),
    logger,
  })
  const summarizeCall = createSummarizeCall({
    database: db,
    summarize: async (input) => summarize(input),
    logger,
  })

  return {
    db,
    engine,
    media,
    sandbox,
    spoolFolder,
    dial,
    redial,
    run,
    summarize: (call: DialableCall) =>
      summarizeCall(
        { organization_id: call.organizationId, call_id: call.callId },
        { isLast: true, signal: new AbortController().signal },
      ),
    /** The path of the MP3. */
    encode: async (call: DialableCall): Promise<string> => {
      const job = { organization_id: call.organizationId, call_id: call.callId }
      await encodeRecording(job, new AbortController().signal)
      return join(spoolFolder, 'storage', call.organizationId, `${call.callId}.mp3`)
    },
    row: async ({ organizationId, callId }: DialableCall) => {
      const row = await findCall(db, organizationId, callId)
      if (!row) throw new Error('The call is gone.')
      return row
    },
    isBarred: ({ organizationId, phoneNumber }: DialableCall) =>
      isOnDoNotCallList(db, organizationId, phoneNumber),
    turns: (call: DialableCall) => listTurns(db, call),
    stop: async () => {
      await Promise.all([media.stop(), userAgent.stop(), sandbox.stop(), engine.stop()])
      await database.drop()
      await rm(spoolFolder, { recursive: true })
    },
  }
}
