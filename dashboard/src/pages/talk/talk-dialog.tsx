import { Alert, Button, Group, Modal, NativeSelect, Stack, Text } from '@mantine/core'
import { useCallback, useEffect, useState } from 'react'
import { MicrophoneError } from '../../audio/capture-microphone.ts'
import type { AnswerOf } from '../../client/table.ts'
import { Failure } from '../../parts/states.tsx'
import { Transcript } from '../call-transcript.tsx'
import { useTalk, type TalkState } from './use-talk.ts'

type Agent = AnswerOf<'getAgent'>
type Version = 'draft' | 'published'

interface TalkDialogProps {
  readonly agent: Agent
  /** Whom the preview is for: the agent takes the browser for that person. */
  readonly contactId: string | undefined
  readonly onClose: () => void
}

/** Talks with the agent by microphone; no phone rings. */
export const TalkDialog = ({ agent, contactId, onClose }: TalkDialogProps) => {
  const [version, setVersion] = useState<Version>(agent.draft ? 'draft' : 'published')
  const [talks, setTalks] = useState(0)
  const [isTalking, setTalking] = useState(false)
  const end = useCallback(() => setTalking(false), [])
  const choices = [
    ...(agent.draft ? [{ value: 'draft', label: 'The saved draft' }] : []),
    ...(agent.version > 0 ? [{ value: 'published', label: `Version ${agent.version}` }] : []),
  ]
  return (
    <Modal
      opened
      size="lg"
      onClose={onClose}
      title={`Talk to ${agent.name}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <NativeSelect
          label="Who talks"
          value={version}
          disabled={isTalking}
          data={choices}
          onChange={({ currentTarget }) =>
            setVersion(currentTarget.value === 'draft' ? 'draft' : 'published')
          }
        />
        <Text size="sm">
          The agent takes you for{' '}
          {contactId === undefined ? 'Ada Lovelace, a sample' : 'the contact of the preview'}. Its
          tools are really used. Nothing of the talk is stored, and no phone rings. Use headphones.
        </Text>
        {talks > 0 && (
          <Talking
            key={talks}
            agentId={agent.id}
            version={version}
            contactId={contactId}
            isOn={isTalking}
            onEnd={end}
          />
        )}
        {!isTalking && (
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Close
            </Button>
            <Button
              onClick={() => {
                setTalks((count) => count + 1)
                setTalking(true)
              }}
            >
              {talks === 0 ? 'Start talking' : 'Talk again'}
            </Button>
          </Group>
        )}
      </Stack>
    </Modal>
  )
}

interface TalkingProps {
  readonly agentId: string
  readonly version: Version
  readonly contactId: string | undefined
  readonly isOn: boolean
  readonly onEnd: () => void
}

const Talking = ({ agentId, version, contactId, isOn, onEnd }: TalkingProps) => {
  const body = { version, ...(contactId !== undefined && { contact_id: contactId }) }
  const { phase, turns, latencies, speaking, why, error } = useTalk(agentId, body, isOn)
  const isOver = phase === 'ended' || phase === 'failed'
  useEffect(() => {
    if (isOver) onEnd()
  }, [isOver, onEnd])
  return (
    <>
      {phase === 'failed' && <Failed error={error} />}
      <Group justify="space-between">
        <Text size="sm" role="status">
          {isOver || isOn ? sentences[phase] : 'You ended the talk.'} {why}
        </Text>
        {isOn && !isOver && (
          <Button size="compact-sm" color="red.9" onClick={onEnd}>
            End talk
          </Button>
        )}
      </Group>
      <Transcript
        turns={turns}
        latencies={latencies}
        positionMs={undefined}
        onSeek={undefined}
        speaking={isOn ? speaking : undefined}
      />
    </>
  )
}

const sentences: Readonly<Record<TalkState['phase'], string>> = {
  connecting: 'Connecting. Allow the microphone if the browser asks.',
  talking: 'You are connected. Speak.',
  ended: 'The talk is over.',
  failed: 'There was no talk.',
}

const Failed = ({ error }: { error: unknown }) =>
  error instanceof MicrophoneError ? (
    <Alert role="alert" color="red" variant="outline" title="There is no microphone">
      {error.message}
    </Alert>
  ) : (
    <Failure error={error} />
  )
