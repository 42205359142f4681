import type { CallExplanation } from '../../domains/calls/explain-call.ts'
import type { ExplanationReason } from '../../contract/explanations.ts'
import type { callResource } from '../../domains/calls/call-record.ts'
import type { CallParties } from '../../domains/calls/call-parties.ts'
import type {
  MissingRecording,
  RecordingDetails,
} from '../../domains/recordings/recording-details.ts'
import type { ResultHeadRow } from '../../domains/results/result-heads.ts'
import type { QualityRow } from '../../domains/results/quality-store.ts'
import type { LatencyRow, UsageRow } from '../../domains/results/usage-store.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { programPath } from '../../runtime/program-path.ts'
import { withLocalTime } from '../terminal/local-time.ts'
import { facts, hanging, type Lines, type Piece } from '../terminal/output.ts'
import { table } from '../terminal/table.ts'
import { plural } from '../../runtime/plural.ts'

/** All data of a call, as `call show --json` prints it. */
export type ShownCall = ReturnType<typeof callResource> &
  CallParties & {
    /** Why it waits, while it is queued. */
    readonly reasons: readonly ExplanationReason[]
    readonly organization_id: OrganizationId
    readonly origin: string
    readonly results: readonly ResultHeadRow[]
    readonly recording?: RecordingDetails | MissingRecording
    readonly turns: readonly ShownTurn[]
    readonly usage: readonly UsageRow[]
    readonly latencies: readonly LatencyRow[]
    readonly quality: readonly QualityRow[]
  }

interface ShownTurn {
  readonly sequence: number
  readonly speaker: string
  readonly text: string
  readonly audio_offset_ms: number
}

/** For people: its facts, its words with the latency of each reply, its model usage and its summary. */
export const describeCall = (call: ShownCall, width?: number): Lines => [
  ...facts(
    [
      ['id', call.id],
      ['organization', call.organization_id],
      ['origin', call.origin],
      ['called', called(call)],
      ['agent', call.agent_name],
      ['status', styledStatus(call)],
      ['waits', call.reasons[0] && waitOf(call.reasons[0])],
      [
        'explained',
        call.reasons.length > 0 ? `${programPath()} call explain ${call.id}` : undefined,
      ],
      ['outcome', call.outcome],
      ['reason', call.outcome_reason],
      ['queued', call.queued_at],
      ['answered', call.connected_at],
      ['ended', call.ended_at],
      ['lasted', call.duration_seconds === undefined ? undefined : `${call.duration_seconds} s`],
      ['recording', call.recording && describeRecording(call.recording)],
      ...call.results.map((result) => [result.kind, describeResult(result)] as const),
      ...call.usage.map((usage) => [usage.purpose, describeUsage(usage)] as const),
      ...call.quality.map((each) => [lineNames[each.direction], describeQuality(each)] as const),
    ],
    width,
  ),
  ...section(call.turns.flatMap((turn) => describeTurn(turn, width))),
  ...section(call.latencies.map(describeLatency)),
  ...section(
    call.results.flatMap(({ summary }) =>
      (summary ?? '')
        .split('\n')
        .flatMap((line) => (line === '' ? [] : hanging('  ', line, width))),
    ),
  ),
]

/** Why a call waits, and every decision about it. */
export const describeExplanation = (
  { status, attempt, reasons, decisions }: CallExplanation,
  width?: number,
): Lines => [
  `The call is ${status}; it was ${attempt === 0 ? 'not dialled' : `dialled ${plural(attempt, 'time')}`}.`,
  ...describeReasons(reasons),
  ...(decisions.length === 0 && reasons.length > 0
    ? []
    : ['', ...describeDecisions(decisions, width)]),
]

const describeDecisions = (decisions: CallExplanation['decisions'], width?: number): Lines => [
  ...decisionTable(decisions, width),
  ...decisions.flatMap(({ at, sip }) =>
    sip === undefined ? [] : ['', `SIP messages since ${at}:`, ...sip.map((rung) => `  ${rung}`)],
  ),
]

const decisionTable = (decisions: CallExplanation['decisions'], width?: number): Lines =>
  table(
    ['AT', 'DECISION', 'UNTIL', 'REASON'],
    decisions.map((each) => [each.at, each.decision, each.until ?? '', each.reason ?? '']),
    'Nothing was decided about it yet.',
    width,
  )

/** Why work waits, one line for each reason. */
export const describeReasons = (reasons: readonly ExplanationReason[]): string[] =>
  reasons.map((reason) => `It waits: ${waitOf(reason)}`)

const waitOf = ({ message, until }: ExplanationReason): string =>
  `${message}${until === undefined ? '' : ` Until ${withLocalTime(until)}.`}`

const called = ({ contact_name: name, phone_number: number }: CallParties): string | undefined =>
  name === undefined || name === number ? number : [number, name].filter(Boolean).join(', ')

const section = (lines: Lines): Lines => (lines.length === 0 ? [] : ['', ...lines])

const describeRecording = (recording: RecordingDetails | MissingRecording): string => {
  if (recording.status === 'unavailable') return 'none: the organization or its agent records never'
  const { frames_expected: expected, frames_written: written } = recording
  const completeness =
    expected === undefined || written === undefined
      ? 'completeness unknown'
      : `${written} of ${expected} frames`
  return `${recording.id}, ${recording.status}, ${completeness}`
}

const describeResult = ({ status, reason, revision }: ResultHeadRow): string =>
  `${status}${reason === null ? '' : ` (${reason})`}, revision ${revision}`

const describeTurn = (turn: ShownTurn, width?: number): Lines =>
  hanging(`${seconds(turn.audio_offset_ms)}  ${turn.speaker.padEnd(8)} `, turn.text, width)

/** Its state, coloured by its result. */
export const styledStatus = (call: {
  readonly status: string
  readonly answer_status?: string | null | undefined
}): Piece => {
  const text = [call.status, call.answer_status].filter(Boolean).join(', ')
  if (call.status === 'failed') return { style: 'bad', text }
  return call.status === 'completed' && call.answer_status === 'answered'
    ? { style: 'good', text }
    : text
}

const seconds = (offsetMs: number): string => (offsetMs / 1000).toFixed(2).padStart(8)

const describeLatency = (latency: LatencyRow): string => {
  const stages = [
    ['endpointing', latency.endpointing_ms],
    ['transcription', latency.transcription_ms],
    ['model', latency.model_ms],
    ['speech', latency.speech_ms],
    ['own', latency.own_ms],
  ] as const
  const shares = stages.flatMap(([name, ms]) => (ms === null ? [] : [`${name} ${ms}`]))
  return `${seconds(latency.audio_offset_ms)}  answered after ${latency.total_ms} ms: ${shares.join(', ')}`
}

const describeUsage = (usage: UsageRow): string =>
  [
    `${usage.model ?? usage.engine} at ${usage.provider}`,
    `${usage.input_tokens} tokens in${partsOf(usage)}, ${usage.output_tokens} out`,
    ...(usage.audio_in_ms + usage.audio_out_ms > 0
      ? [`audio ${roundSeconds(usage.audio_in_ms)} s in, ${roundSeconds(usage.audio_out_ms)} s out`]
      : []),
    usage.cost_microusd === null
      ? 'cost unknown'
      : `cost $${(usage.cost_microusd / 1_000_000).toFixed(4)}`,
  ].join(', ')

/** Which of the tokens were audio or cached, where the server says so. */
const partsOf = ({ audio_input_tokens: audio, cached_input_tokens: cached }: UsageRow): string => {
  const parts = [
    ...(audio > 0 ? [`${audio} of audio`] : []),
    ...(cached > 0 ? [`${cached} cached`] : []),
  ]
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}

const lineNames = { from_callee: 'audio in', to_callee: 'audio out' } as const

const describeQuality = (quality: QualityRow): string => {
  const parts = [
    ['MOS', quality.mos, ''],
    ['lost', quality.packets_lost, ''],
    ['late', quality.packets_late, ''],
    ['concealed', quality.concealed, ''],
    ['jitter', quality.jitter_ms, ' ms'],
    ['wait', quality.delay_ms, ' ms'],
    ['round trip', quality.round_trip_ms, ' ms'],
  ] as const
  const known = parts.flatMap(([name, value, unit]) =>
    value === null ? [] : [`${name} ${value}${unit}`],
  )
  return [`${quality.packets} packets`, ...known].join(', ')
}

const roundSeconds = (ms: number): number => Math.round(ms / 1000)
