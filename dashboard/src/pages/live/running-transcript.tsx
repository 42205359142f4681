import { Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { atLeast } from '../../../../src/contract/roles.ts'
import { useMay } from '../../client/session.ts'
import type { AnswerOf } from '../../client/table.ts'
import { useHeardWords, useWatchedWords } from '../../client/words.ts'
import { Transcript } from '../call-transcript.tsx'
import { Listening, whyNotHeard } from './listening.tsx'
import './live.css'

type Call = AnswerOf<'getCall'>

/** What was said in a call that goes on, and what is being said. */
export const RunningTranscript = ({ call }: { call: Call }) => {
  useWatchedWords(call.id)
  const heard = useHeardWords(call.id)
  const known = new Set(call.turns.map(({ sequence }) => sequence))
  const turns = [
    ...call.turns,
    ...(heard?.turns ?? []).filter(({ sequence }) => !known.has(sequence)),
  ].toSorted((one, other) => one.audio_offset_ms - other.audio_offset_ms)
  const why = whyNotHeard(call, useMay(atLeast('operator')))
  const [isListening, setListening] = useState(false)
  return (
    <>
      {isListening ? (
        <Listening
          callId={call.id}
          name={call.contact_name ?? call.contact_id}
          onStop={() => setListening(false)}
        />
      ) : (
        <Group gap="sm">
          <Button
            size="compact-sm"
            disabled={why !== undefined}
            title={why}
            onClick={() => setListening(true)}
          >
            Listen
          </Button>
          {why !== undefined && <Text size="sm">{why}</Text>}
        </Group>
      )}
      <Transcript
        turns={turns}
        latencies={call.latencies}
        positionMs={undefined}
        onSeek={undefined}
        speaking={heard?.speaking}
      >
        {turns.length === 0 && !heard?.speaking && (
          <Text size="sm">Nothing was said yet. Words stand here as they are spoken.</Text>
        )}
      </Transcript>
    </>
  )
}
