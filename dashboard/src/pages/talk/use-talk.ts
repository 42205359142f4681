import { useEffect, useReducer } from 'react'
import { openAudioSocket, sentenceOfEnd } from '../../audio/audio-socket.ts'
import { askForMicrophone, captureMicrophone } from '../../audio/capture-microphone.ts'
import { openPlayback } from '../../audio/play-lanes.ts'
import { send } from '../../client/send.ts'
import type { InputOf } from '../../client/table.ts'

interface Turn {
  readonly sequence: number
  readonly speaker: string
  readonly text: string
  readonly audio_offset_ms: number
}

/** What the service tells during a talk. */
type Told =
  | ({ readonly type: 'turn' } & Turn)
  | {
      readonly type: 'words'
      readonly words: { readonly text: string; readonly audio_offset_ms: number } | null
    }
  | { readonly type: 'latency'; readonly latency: Readonly<Record<string, number | null>> }

type Happened =
  | Told
  | { readonly type: 'connected' }
  | { readonly type: 'ended'; readonly why: string }
  | { readonly type: 'failed'; readonly error: unknown }

export interface TalkState {
  readonly phase: 'connecting' | 'talking' | 'ended' | 'failed'
  readonly turns: readonly Turn[]
  readonly latencies: readonly Readonly<Record<string, number | null>>[]
  readonly speaking: { readonly text: string; readonly audio_offset_ms: number } | undefined
  readonly why?: string
  readonly error?: unknown
}

const before: TalkState = { phase: 'connecting', turns: [], latencies: [], speaking: undefined }

const after = (state: TalkState, happened: Happened): TalkState => {
  switch (happened.type) {
    case 'connected':
      return { ...state, phase: 'talking' }
    case 'turn':
      return { ...state, turns: [...state.turns, happened] }
    case 'words':
      return { ...state, speaking: happened.words ?? undefined }
    case 'latency':
      return { ...state, latencies: [...state.latencies, happened.latency] }
    case 'ended':
      return { ...state, phase: 'ended', speaking: undefined, why: happened.why }
    case 'failed':
      return { ...state, phase: 'failed', speaking: undefined, error: happened.error }
  }
}

/** Holds a talk as long as it is on, and releases the microphone with it. What was said stays. */
export const useTalk = (
  agentId: string,
  body: InputOf<'talkToAgent'>['body'],
  isOn: boolean,
): TalkState => {
  const [state, happen] = useReducer(after, before)
  const { version, contact_id: contactId } = body
  useEffect(() => {
    if (!isOn) return undefined
    const stopping = new AbortController()
    const { signal } = stopping
    const asked = { version, ...(contactId !== undefined && { contact_id: contactId }) }
    hold(agentId, asked, signal, happen).catch((error: unknown) => {
      if (!signal.aborted) happen({ type: 'failed', error })
    })
    return () => stopping.abort()
  }, [agentId, version, contactId, isOn])
  return state
}

const hold = async (
  agentId: string,
  body: InputOf<'talkToAgent'>['body'],
  signal: AbortSignal,
  happen: (happened: Happened) => void,
): Promise<void> => {
  const context = new AudioContext()
  const closing = (): void => void (context.state === 'closed' ? undefined : context.close())
  signal.addEventListener('abort', closing)
  const microphone = await askForMicrophone()
  const release = (): void => {
    for (const track of microphone.getTracks()) track.stop()
  }
  signal.addEventListener('abort', release)
  if (signal.aborted) return release()
  try {
    const playback = await openPlayback(context, 1)
    const { ticket } = await send(
      'talkToAgent',
      { params: { agent_id: agentId }, body },
      { signal },
    )
    const socket = openAudioSocket(ticket)
    signal.addEventListener('abort', () => socket.close())
    socket.addEventListener('open', () => happen({ type: 'connected' }))
    socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer | string>) => {
      if (typeof data === 'string') happen(JSON.parse(data) as Told)
      else playback.play([new Uint8Array(data)])
    })
    socket.addEventListener('close', (event) => {
      release()
      if (!signal.aborted) happen({ type: 'ended', why: sentenceOfEnd(event) })
    })
    await captureMicrophone(context, microphone, (bytes) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(bytes)
    })
  } catch (error) {
    release()
    throw error
  }
}
