import { Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import type { AnswerOf } from '../client/table.ts'
import { formatLength } from '../parts/instant.tsx'

type Call = AnswerOf<'getCall'>
type Turn = Call['turns'][number]
type Latency = Call['latencies'][number]

interface TranscriptProps {
  readonly turns: readonly Turn[]
  readonly latencies: readonly Latency[]
  /** Where the audio is; undefined before it is played. */
  readonly positionMs: number | undefined
  /** None without audio. */
  readonly onSeek: ((seconds: number) => void) | undefined
  /** What the agent says at this moment. */
  readonly speaking?: { readonly text: string; readonly audio_offset_ms: number } | undefined
  readonly children?: ReactNode
}

/** Turns in the order of the audio: the one that is heard is marked, and each leads to where it was spoken. */
export const Transcript = ({
  turns,
  latencies,
  positionMs,
  onSeek,
  speaking,
  children,
}: TranscriptProps) => {
  const heard = positionMs === undefined ? -1 : lastStarted(turns, positionMs)
  return (
    <Stack component="section" aria-labelledby="transcript" gap="xs">
      <Title order={2} size="h4" id="transcript">
        Transcript
      </Title>
      <Stack component="ol" gap={2} className="transcript">
        {turns.map((turn, index) => (
          <li key={turn.sequence} aria-current={index === heard ? 'true' : undefined}>
            <Text size="xs" fw={600} component="div">
              {turn.speaker === 'contact' ? 'callee' : turn.speaker} ·{' '}
              <TurnTime turn={turn} onSeek={onSeek} />
              <ReplyTime turn={turn} latencies={latencies} />
            </Text>
            <Text size="sm">{turn.text}</Text>
          </li>
        ))}
        {speaking && (
          <li className="speaking">
            <Text size="xs" fw={600} component="div">
              agent · {formatLength(speaking.audio_offset_ms / 1000)} · speaks
            </Text>
            <Text size="sm">{speaking.text}</Text>
          </li>
        )}
      </Stack>
      {children}
    </Stack>
  )
}

const TurnTime = ({ turn, onSeek }: { turn: Turn; onSeek: TranscriptProps['onSeek'] }) => {
  const at = formatLength(turn.audio_offset_ms / 1000)
  return onSeek ? (
    <button
      type="button"
      className="seek"
      aria-label={`Play from ${at}`}
      onClick={() => onSeek(turn.audio_offset_ms / 1000)}
    >
      {at}
    </button>
  ) : (
    <span>{at}</span>
  )
}

const ReplyTime = ({ turn, latencies }: { turn: Turn; latencies: readonly Latency[] }) => {
  const latency = turn.speaker === 'agent' ? nearest(latencies, turn.audio_offset_ms) : undefined
  return latency ? ` · replied after ${latency['total_ms']} ms` : null
}

/** How far a reply's latency and its turn may differ on the recording's clock. */
const sameTurnMs = 500

const nearest = (latencies: readonly Latency[], offsetMs: number): Latency | undefined => {
  const distance = (latency: Latency) => Math.abs((latency['audio_offset_ms'] ?? 0) - offsetMs)
  const [closest] = latencies.toSorted((one, other) => distance(one) - distance(other))
  return closest && distance(closest) <= sameTurnMs ? closest : undefined
}

/** A turn is heard from its first word on; one that begins in this tenth of a second counts. */
const slackMs = 100

const lastStarted = (turns: readonly Turn[], positionMs: number): number =>
  turns.findLastIndex(({ audio_offset_ms: offsetMs }) => offsetMs <= positionMs + slackMs)
