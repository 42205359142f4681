import { createManualTime } from '../manual-time.ts'
import type { Clock } from '../../../src/runtime/time.ts'
import { silentLogger } from '../../../src/runtime/logger.ts'
import type {
  CallLeg,
  Carrier,
  DialFailure,
  DialOutcome,
  DialRequest,
  LegEnd,
  NegotiatedMedia,
  TransferOutcome,
} from '../../../src/telephony/carrier.ts'
import type {
  CallLedger,
  CallPlan,
  FinishedCall,
} from '../../../src/live-call/call/live-call-port.ts'
import type { DialableCall } from '../../../src/domains/calls/lifecycle/hand-over.ts'
import type { MediaCall, MediaPlane } from '../../../src/live-call/media/media-port.ts'
import type { MediaEvent, MediaReport } from '../../../src/live-call/media/media-protocol.ts'
import type { SpokenTurn } from '../../../src/domains/results/transcript-store.ts'
import type { RunCallDependencies } from '../../../src/live-call/call/run-call.ts'
import type { OrganizationId } from '../../../src/contract/organization-id.ts'

/** One call whose network, media and database are moved by hand, for the tests of its races. */

export const pcmuMedia: NegotiatedMedia = {
  remote: { address: '127.0.0.1', port: 40_000 },
  codec: 'pcmu',
  payloadType: 0,
  direction: 'sendrecv',
}

export const fakeCall = (changes: Partial<DialableCall> = {}): DialableCall => ({
  organizationId: '0190a8f0-0000-7000-8000-000000000001' as OrganizationId,
  callId: '0190a8f0-0000-7000-8000-000000000002',
  contactId: '0190a8f0-0000-7000-8000-000000000003',
  agentId: '0190a8f0-0000-7000-8000-000000000004',
  agentVersion: 1,
  phoneNumber: '+12025550100',
  leaseToken: '0190a8f0-0000-7000-8000-000000000005',
  origin: 'api',
  route: 'sandbox',
  attempt: 1,
  mayInvite: () => true,
  ...changes,
})

export const fakePlan: CallPlan = {
  organizationId: '00000000-0000-4000-8000-000000000001' as OrganizationId,
  engine: { kind: 'realtime', url: 'ws://127.0.0.1:1' },
  session: { instructions: '', greeting: 'Hello.', language: 'en', tools: [] },
  maxDurationMs: 900_000,
  voicemail: 'hang_up',
  outcomes: ['appointment_booked', 'opted_out'],
  httpTools: [],
  allowPrivateNetwork: false,
  callerId: '+12025550199',
  isRecorded: true,
}

export const fakeReport: MediaReport = {
  durationMs: 12_400,
  recordingPath: '/spool/call.spool',
  framesLost: 0,
  usage: undefined,
  reportedOutcome: undefined,
  rtp: { packetsSent: 620, packetsReceived: 618, packetsLost: 2 },
  quality: [],
}

export interface FakeLeg extends CallLeg {
  readonly hangUps: number
  /** Whom the callee was to be transferred to. */
  readonly transfers: readonly string[]
  settleTransfer(outcome: TransferOutcome): void
  /** By SIP INFO. */
  readonly sentDigits: readonly string[]
  end(end: LegEnd): void
  changeMedia(media: NegotiatedMedia): void
  press(digit: string): void
}

export const createFakeLeg = (): FakeLeg => {
  const ended = Promise.withResolvers<LegEnd>()
  const transfer = Promise.withResolvers<TransferOutcome>()
  const transfers: string[] = []
  const sentDigits: string[] = []
  let hangUps = 0
  let onChange: (media: NegotiatedMedia) => void = () => undefined
  let onDigit: (digit: string) => void = () => undefined
  return {
    sipCallId: 'sip-call',
    media: pcmuMedia,
    ended: ended.promise,
    get hangUps() {
      return hangUps
    },
    onMediaChange: (listener) => {
      onChange = listener
    },
    onDigit: (listener) => {
      onDigit = listener
    },
    transfers,
    settleTransfer: transfer.resolve,
    transfer: (to) => {
      transfers.push(to)
      return transfer.promise
    },
    sendDigits: async (digits) => void sentDigits.push(digits),
    sentDigits,
    hangUp: async () => {
      hangUps += 1
      ended.resolve({ by: 'us' })
    },
    end: ended.resolve,
    changeMedia: (media) => onChange(media),
    press: (digit) => onDigit(digit),
  }
}

export interface FakeCarrier extends Carrier {
  /** Resolves with the first dial. */
  readonly dialed: Promise<{ request: DialRequest; signal: AbortSignal }>
  readonly dials: number
  answer(leg: CallLeg): void
  fail(failure: Partial<DialFailure>): void
}

/** Like a real carrier it answers an abort with `cancelled`, unless `crossAnswer` made a 200 cross it. */
const createFakeCarrier = (): FakeCarrier => {
  const dialed = Promise.withResolvers<{ request: DialRequest; signal: AbortSignal }>()
  const outcome = Promise.withResolvers<DialOutcome>()
  let dials = 0
  const fail = (failure: Partial<DialFailure>): void =>
    outcome.resolve({
      kind: 'failed',
      failure: {
        cause: 'rejected',
        reason: 'SIP 404 Not Found',
        rang: false,
        invited: true,
        ...failure,
      },
    })
  return {
    dialed: dialed.promise,
    get dials() {
      return dials
    },
    dial: (request, signal) => {
      dials += 1
      dialed.resolve({ request, signal })
      if (!request.mayInvite())
        fail({ cause: 'not_sent', reason: 'The lease was lost.', invited: false })
      // In a later turn: an answer that came in the same one has crossed it.
      const cancel = () =>
        setImmediate(() =>
          fail({ cause: 'cancelled', reason: 'SIP 487 Request Terminated', rang: true }),
        )
      if (signal.aborted) fail({ cause: 'cancelled', reason: 'Never sent.', invited: false })
      else signal.addEventListener('abort', cancel)
      return outcome.promise
    },
    answer: (leg) => outcome.resolve({ kind: 'answered', leg }),
    fail,
  }
}

export interface FakeMedia extends MediaPlane {
  readonly log: string[]
  /** Resolves when the conversation was started. */
  readonly started: Promise<void>
  emit(event: MediaEvent): void
  /** What `open` throws. */
  refusal?: Error
  report: MediaReport
  /** Emitted while the call is flushed. */
  lastWords: MediaEvent[]
}

const createFakeMedia = (): FakeMedia => {
  const log: string[] = []
  const started = Promise.withResolvers<void>()
  let listener: (event: MediaEvent) => void = () => undefined
  let stopped: Promise<MediaReport> | undefined
  const stop = async (): Promise<MediaReport> => {
    log.push('stop')
    for (const event of media.lastWords) listener(event)
    return media.report
  }
  const call: MediaCall = {
    localMedia: { address: '127.0.0.1', port: 30_000 },
    prepare: () => log.push('prepare'),
    start: () => {
      log.push('start')
      started.resolve()
    },
    updateMedia: ({ direction }) => log.push(`media ${direction}`),
    pressed: (digit) => log.push(`digit ${digit}`),
    reportWords: (isOn) => log.push(`words ${isOn}`),
    hear: (g711) => log.push(`hears ${g711.length}`),
    passSound: (isOn) => log.push(`sound ${isOn}`),
    transferSettled: (result) => log.push(`transfer ${JSON.stringify(result)}`),
    onEvent: (next) => {
      listener = next
    },
    stop: () => (stopped ??= stop()),
  }
  const media: FakeMedia = {
    log,
    started: started.promise,
    report: fakeReport,
    lastWords: [],
    emit: (event) => listener(event),
    open: async () => {
      if (media.refusal) throw media.refusal
      return call
    },
  }
  return media
}

export interface FakeLedger extends CallLedger {
  readonly log: string[]
  readonly finished: FinishedCall[]
  readonly turns: SpokenTurn[]
  /** Answers of `markConnected` and `finish`. */
  isOurs: boolean
  /** How many of the next writes fail. */
  failures: number
}

const createFakeLedger = (): FakeLedger => {
  const write = (entry: string): boolean => {
    if (ledger.failures > 0) {
      ledger.failures -= 1
      throw new Error('The database is away.')
    }
    ledger.log.push(entry)
    return ledger.isOurs
  }
  const ledger: FakeLedger = {
    log: [],
    finished: [],
    turns: [],
    isOurs: true,
    failures: 0,
    markConnected: async () => write('connected'),
    requeue: async (_call, attempt) => write(`${attempt.kind} ${attempt.reason}`),
    note: async (_call, { decision }) => write(`note ${decision}`),
    saveTrace: async () => undefined,
    appendTurn: async (_call, turn) => {
      write(`turn ${turn.sequence}`)
      ledger.turns.push(turn)
    },
    finish: async (_call, finished) => {
      const isFirst = write(`finish ${finished.ending.status}`)
      ledger.finished.push(finished)
      return isFirst
    },
  }
  return ledger
}

export interface FakeDependencies extends RunCallDependencies {
  readonly carrier: FakeCarrier
  readonly media: FakeMedia
  readonly ledger: FakeLedger
  readonly clock: Clock & { advance(ms: number): void }
}

export const createFakeDependencies = (
  changes: Partial<Pick<RunCallDependencies, 'loadPlan' | 'ringTimeoutMs' | 'maxHoldMs'>> = {},
): FakeDependencies => ({
  carrier: createFakeCarrier(),
  media: createFakeMedia(),
  ledger: createFakeLedger(),
  loadPlan: async () => ({ plan: fakePlan }),
  ringTimeoutMs: 45_000,
  maxHoldMs: 300_000,
  spoolFolder: '/spool',
  clock: createManualTime(new Date('2026-11-20T10:00:00Z')),
  logger: silentLogger,
  ...changes,
})
