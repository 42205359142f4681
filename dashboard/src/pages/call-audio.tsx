import { Anchor, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState, type RefObject } from 'react'
import { atLeast } from '../../../src/contract/roles.ts'
import { reading } from '../client/queries.ts'
import { useMay } from '../client/session.ts'
import type { AnswerOf } from '../client/table.ts'
import { Loaded } from '../parts/states.tsx'
import { Waveform } from '../parts/waveform.tsx'
import { Transcript } from './call-transcript.tsx'

type Call = AnswerOf<'getCall'>
type Recording = AnswerOf<'getCallRecording'>

/** A signed URL lives for 15 minutes; one that opens no more is asked for again. */
const urlFreshMs = 10 * 60_000

/** What was said, on one clock: waveform, audio, and the words that follow it. */
export const CallAudio = ({ call }: { call: Call }) => {
  const audio = useRef<HTMLAudioElement>(null)
  const [position, setPosition] = useState<number>()
  const mayListen = useMay(atLeast('operator'))
  const isReady = call.recording?.status === 'ready'
  const seek = (seconds: number) => {
    if (!audio.current) return
    audio.current.currentTime = seconds
    setPosition(seconds)
  }
  return (
    <>
      {call.recording && (
        <Stack component="section" aria-labelledby="recording" gap="xs">
          <Title order={2} size="h4" id="recording">
            Recording
          </Title>
          {isReady && mayListen ? (
            <Player
              callId={call.id}
              audio={audio}
              position={position ?? 0}
              onPosition={setPosition}
              onSeek={seek}
            />
          ) : (
            <Text size="sm">{absence(call.recording.status, mayListen)}</Text>
          )}
        </Stack>
      )}
      {call.turns.length > 0 && (
        <Transcript
          turns={call.turns}
          latencies={call.latencies}
          positionMs={position === undefined ? undefined : position * 1000}
          onSeek={isReady && mayListen ? seek : undefined}
        />
      )}
    </>
  )
}

const absence = (status: string, mayListen: boolean): string => {
  if (status === 'unavailable')
    return 'This call was not recorded: its organization or its agent records no calls.'
  if (status === 'deleted') return 'The recording was deleted.'
  if (status === 'failed') return 'The audio of this call was lost.'
  if (status === 'encoding') return 'The audio is being encoded; it stands here in a moment.'
  return mayListen ? 'There is no audio.' : 'Operators and administrators may listen to it.'
}

interface PlayerProps {
  readonly callId: string
  readonly audio: RefObject<HTMLAudioElement | null>
  readonly position: number
  readonly onPosition: (seconds: number) => void
  readonly onSeek: (seconds: number) => void
}

const Player = ({ callId, ...others }: PlayerProps) => {
  const result = useQuery({
    ...reading('getCallRecording', { params: { call_id: callId } }),
    staleTime: urlFreshMs,
    refetchOnWindowFocus: false,
  })
  return (
    <Loaded result={result}>
      {(recording) => (
        <Playing recording={recording} {...others} onStale={() => void result.refetch()} />
      )}
    </Loaded>
  )
}

const Playing = ({
  recording,
  audio,
  position,
  onPosition,
  onSeek,
  onStale,
}: Omit<PlayerProps, 'callId'> & { recording: Recording; onStale: () => void }) => {
  // A newer URL of the same audio must not stop what plays: it is taken when the old one opens no more.
  const [url, setUrl] = useState(recording.download_url)
  const renew = () => {
    if (recording.download_url === url) onStale()
    else setUrl(recording.download_url)
  }
  return (
    <Stack gap="xs">
      {recording.peaks && (
        <>
          <Waveform
            agent={recording.peaks.agent}
            contact={recording.peaks.contact}
            durationSeconds={
              Math.max(recording.peaks.agent.length, recording.peaks.contact.length) / 10
            }
            positionSeconds={position}
            onSeek={onSeek}
          />
          <Group gap="md" className="lanes">
            <Text size="xs" className="agent-key">
              Agent, above
            </Text>
            <Text size="xs" className="contact-key">
              Callee, below
            </Text>
          </Group>
        </>
      )}
      <Group gap="sm">
        {/* Its words stand beside it, as the transcript. */}
        <audio
          ref={audio}
          className="player"
          controls
          preload="metadata"
          src={url}
          aria-label="Recording of the call"
          onTimeUpdate={({ currentTarget }) => onPosition(currentTarget.currentTime)}
          onError={renew}
        />
        <Anchor href={recording.download_url} size="sm" td="underline">
          Download MP3
        </Anchor>
      </Group>
    </Stack>
  )
}
