import type { Answering } from './answering.ts'
import type { ConversationListener } from './conversation-types.ts'
import { longestGoodbyeMs, type HangUp } from './hang-up.ts'
import type { Keypad } from './keypad.ts'
import { createToolRunner } from './tool-runner.ts'
import { parseToolCall, type BuiltInCall } from './tools.ts'
import type { Transfer } from './transfer.ts'
import type { VoiceEvent, VoiceSession } from './voice-engine.ts'

/** Does what the model asks for by its tools. */
export interface AgentTools {
  called(call: ToolCall): void
  /** The call is over: all that is still done is what the callee has asked for, not to be called again. */
  calledTooLate(call: ToolCall): void
  /** The callee asked never to be called again; told once. */
  optOut(): void
  /** The callee spoke: the model may call as many tools as before. */
  heardWords(): void
  /** One tick; true when a tool takes so long that the callee should be told. */
  tick(): boolean
  readonly isOptedOut: boolean
  /** What the agent gave as outcome when it ended the call, where it did. */
  readonly reportedOutcome: string | undefined
}

export type ToolCall = Extract<VoiceEvent, { type: 'tool_call' }>

export interface AgentToolsOptions {
  readonly session: Pick<VoiceSession, 'toolResult' | 'say'>
  /** Said by the agent when it has done nothing but call tools. */
  readonly pardon: string
  readonly listener: ConversationListener
  readonly hangUp: HangUp
  readonly answering: Pick<Answering, 'voicemailTool'>
  readonly transfer: Pick<Transfer, 'request'>
  readonly keypad: Pick<Keypad, 'send'>
}

/** A model that calls tools without end is not asked to go on until the callee has spoken. */
const maxToolsInRow = 20

export const createAgentTools = (options: AgentToolsOptions): AgentTools => {
  const { session, listener, hangUp, answering, transfer, keypad } = options
  const runner = createToolRunner(listener.runTool?.bind(listener), (id, result) =>
    session.toolResult(id, result),
  )
  let toolsInRow = 0
  let isOptedOut = false
  let reportedOutcome: string | undefined

  const optOut = (): void => {
    if (isOptedOut) return
    isOptedOut = true
    listener.onOptOut()
  }

  const runBuiltIn = (call: BuiltInCall, id: string): void => {
    switch (call.name) {
      case 'end_call':
        reportedOutcome = call.outcome
        session.toolResult(id, { ended: true }, false)
        return hangUp.request(isOptedOut ? 'opted_out' : 'agent_ended', {
          awaitsSpeech: false,
          limitMs: longestGoodbyeMs,
        })
      case 'opt_out':
        optOut()
        return session.toolResult(id, { barred: true }, !hangUp.isPending)
      case 'send_dtmf':
        listener.onDtmf(call.digits)
        keypad.send(call.digits.length)
        return session.toolResult(id, { sent: true })
      case 'voicemail_detected':
        return answering.voicemailTool(id)
      case 'transfer_call':
        return transfer.request(id)
    }
  }

  /** The callee has waited long enough to be asked to speak. */
  const refuse = (id: string): void => {
    session.toolResult(id, tooMany, false)
    if (toolsInRow === maxToolsInRow + 1) session.say(options.pardon)
  }

  return {
    called({ id, name, arguments: toolArguments }) {
      const parsed = parseToolCall(name, toolArguments)
      toolsInRow += 1
      if (parsed.kind === 'built_in' && isLastWord(parsed.call)) runBuiltIn(parsed.call, id)
      else if (toolsInRow > maxToolsInRow) refuse(id)
      else if (parsed.kind === 'built_in') runBuiltIn(parsed.call, id)
      else if (parsed.kind === 'invalid') session.toolResult(id, { error: parsed.error })
      else runner.start(id, name, toolArguments)
    },
    calledTooLate({ name, arguments: toolArguments }) {
      const parsed = parseToolCall(name, toolArguments)
      if (parsed.kind === 'built_in' && parsed.call.name === 'opt_out') optOut()
    },
    optOut,
    heardWords() {
      toolsInRow = 0
    },
    tick: () => runner.tick(),
    get isOptedOut() {
      return isOptedOut
    },
    get reportedOutcome() {
      return reportedOutcome
    },
  }
}

const tooMany = { error: 'Too many tools in a row: wait for the person.' }

/** What ends the call or goes before everything else is heard however much the model has called before. */
const isLastWord = ({ name }: BuiltInCall): boolean => name === 'end_call' || name === 'opt_out'
