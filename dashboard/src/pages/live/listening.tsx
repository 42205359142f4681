import { Alert, Button, Group, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { openAudioSocket, sentenceOfEnd } from '../../audio/audio-socket.ts'
import { openPlayback } from '../../audio/play-lanes.ts'
import { send } from '../../client/send.ts'
import { formatLength } from '../../parts/instant.tsx'
import { Failure } from '../../parts/states.tsx'

interface ListeningProps {
  readonly callId: string
  /** Whom it is about. */
  readonly name: string
  readonly onStop: () => void
}

type State =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'hearing' }
  | { readonly kind: 'ended'; readonly why: string }
  | { readonly kind: 'failed'; readonly error: unknown }

const secondsOfMessage = 0.1

/** Plays a call that goes on: the agent on the left, the callee on the right. It ends when it is no longer shown. */
export const Listening = ({ callId, name, onStop }: ListeningProps) => {
  const [state, setState] = useState<State>({ kind: 'connecting' })
  const [messages, setMessages] = useState(0)
  useEffect(() => {
    const stopping = new AbortController()
    const context = new AudioContext()
    hearCall(callId, context, stopping.signal, {
      onSound: () => {
        setState((before) => (before.kind === 'connecting' ? { kind: 'hearing' } : before))
        setMessages((count) => count + 1)
      },
      onEnd: (why) => setState({ kind: 'ended', why }),
    }).catch((error: unknown) => {
      if (!stopping.signal.aborted) setState({ kind: 'failed', error })
    })
    return () => {
      stopping.abort()
      void context.close()
    }
  }, [callId])
  if (state.kind === 'failed') return <Failure error={state.error} />
  return (
    <Alert
      variant="outline"
      color="indigo"
      title={state.kind === 'ended' ? 'Listening has ended' : `Listening to the call to ${name}`}
    >
      <Group justify="space-between">
        <Text size="sm" role="status">
          {state.kind === 'connecting' && 'Connecting. Sound comes in a moment.'}
          {state.kind === 'hearing' && 'The agent is on the left, the callee on the right.'}
          {state.kind === 'ended' && state.why}
        </Text>
        <Text size="sm">Heard {formatLength(messages * secondsOfMessage)}</Text>
        <Button size="compact-sm" variant="default" onClick={onStop}>
          {state.kind === 'ended' ? 'Close' : 'Stop listening'}
        </Button>
      </Group>
    </Alert>
  )
}

const hearCall = async (
  callId: string,
  context: AudioContext,
  signal: AbortSignal,
  { onSound, onEnd }: { onSound: () => void; onEnd: (why: string) => void },
): Promise<void> => {
  const playback = await openPlayback(context, 2)
  const { ticket } = await send(
    'listenToCall',
    { params: { call_id: callId }, body: {} },
    { signal },
  )
  if (signal.aborted) return
  const socket = openAudioSocket(ticket)
  signal.addEventListener('abort', () => socket.close())
  socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer>) => {
    const lane = data.byteLength / 2
    playback.play([new Uint8Array(data, 0, lane), new Uint8Array(data, lane)])
    onSound()
  })
  socket.addEventListener('close', (event) => {
    if (!signal.aborted) onEnd(sentenceOfEnd(event))
  })
}

/** Why a call cannot be heard here, for the button's title. */
export const whyNotHeard = (
  call: {
    readonly status: string
    readonly is_here?: boolean | undefined
    readonly node?: string | undefined
  },
  operates: boolean,
): string | undefined => {
  if (!operates) return 'For operators and administrators.'
  if (call.status !== 'in_progress') return 'Nothing is heard before the callee answers.'
  if (call.is_here === false)
    return `${call.node ? `The node ${call.node}` : 'Another node'} carries this call: listen in the dashboard of that node.`
  return undefined
}
