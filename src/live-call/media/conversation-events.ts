import type {
  ConversationListener,
  TransferResult,
  TurnLatency,
} from '../../conversation/loop/conversation-types.ts'
import { createOutboundHttp } from '../../runtime/outbound-http.ts'
import { askHttpTool } from './http-tool.ts'
import type { ConversationPlan, MediaEvent } from './media-protocol.ts'

interface ConversationEventsOptions {
  readonly plan: ConversationPlan
  /** Start of the conversation on the recording's clock: it may begin after the answer. */
  readonly startedAtMs: number
  readonly post: (event: MediaEvent) => void
  readonly breakDown: (reason: string) => void
  readonly sendDtmf: (digits: string) => void
  readonly askTransfer: () => Promise<TransferResult>
}

/** Shared by the thread: connections outlive calls. */
const outbound = createOutboundHttp()

/** Posts the findings of a conversation as events of its call, dated on the recording's clock. */
export const listenToConversation = (options: ConversationEventsOptions): ConversationListener => {
  const { plan, startedAtMs, post, breakDown, sendDtmf, askTransfer } = options
  let turns = 0

  const postLatency = (latency: TurnLatency): void => {
    const audioOffsetMs = latency.audioOffsetMs + startedAtMs
    post({ type: 'turn_latency', latency: { ...latency, audioOffsetMs } })
  }

  return {
    onTurn({ speaker, text, audioOffsetMs }) {
      turns += 1
      const offsetMs = audioOffsetMs + startedAtMs
      post({ type: 'turn', turn: { sequence: turns, speaker, text, audioOffsetMs: offsetMs } })
    },
    onLatency: postLatency,
    onFirstWords: (atMs) => post({ type: 'first_words', atMs: atMs + startedAtMs }),
    onHangUp(reason) {
      if (reason === 'engine_failed') breakDown('The voice engine failed during the call.')
      else post({ type: 'hang_up', reason })
    },
    onOptOut: () => post({ type: 'opted_out' }),
    onVoicemail: (messageLeft) => post({ type: 'voicemail', messageLeft }),
    onNobody: (kind) => post({ type: 'nobody', kind }),
    onDtmf: sendDtmf,
    ...(plan.transferTo !== undefined && { transfer: askTransfer }),
    runTool: (name, toolArguments) => runTool(options, name, toolArguments),
  }
}

const runTool = async (
  { plan, post }: ConversationEventsOptions,
  name: string,
  toolArguments: unknown,
): Promise<unknown> => {
  const tool = plan.httpTools.find((each) => each.name === name)
  if (tool === undefined) throw new Error('The agent has no such tool.')
  let ok = false
  try {
    const response = await askHttpTool(outbound, tool, toolArguments, plan)
    ok = response.status < 400
    return response
  } finally {
    post({ type: 'tool_used', name, ok })
  }
}
