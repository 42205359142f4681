import type { AnsweringParty } from '../answering-party/answering-party.ts'
import type { ConversationListener } from './conversation-types.ts'
import { longestGoodbyeMs, type HangUp } from './hang-up.ts'
import type { Keypad } from './keypad.ts'
import type { CallPhase } from './phases.ts'
import { createToolRunner } from '../tools/tool-runner.ts'
import { parseToolCall, type BuiltInCall, type ParsedToolCall } from '../tools/tools.ts'
import type { Transfer } from './transfer.ts'
import type { VoiceEvent, VoiceSession } from '../engine/voice-engine.ts'

/** Does what the model asks for by its tools. */
export interface AgentTools {
  /** Carries out what the phase allows. Once the call is over, that is only the callee's wish not to be called again. */
  called(call: ToolCall): void
  /** The callee asked never to be called again; reported once. */
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
  readonly phase: CallPhase
  readonly hangUp: Pick<HangUp, 'request'>
  readonly party: Pick<AnsweringParty, 'voicemailTool'>
  readonly transfer: Pick<Transfer, 'request'>
  readonly keypad: Pick<Keypad, 'send'>
}

/** A model that calls tools without end is not asked to go on until the callee has spoken. */
const maxToolsInRow = 20

export const createAgentTools = (options: AgentToolsOptions): AgentTools => {
  const { session, phase, listener, hangUp, party, transfer, keypad } = options
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
        return session.toolResult(id, { barred: true }, phase.rules.tools === 'all')
      case 'send_dtmf':
        listener.onDtmf(call.digits)
        keypad.send(call.digits.length)
        return session.toolResult(id, { sent: true })
      case 'voicemail_detected':
        return party.voicemailTool(id)
      case 'transfer_call':
        return transfer.request(id)
    }
  }

  const calledTooLate = (parsed: ParsedToolCall): void => {
    if (parsed.kind === 'built_in' && parsed.call.name === 'opt_out') optOut()
  }

  /** The callee has waited long enough to be asked to speak. */
  const refuse = (id: string): void => {
    session.toolResult(id, tooMany, false)
    if (toolsInRow === maxToolsInRow + 1) session.say(options.pardon)
  }

  return {
    called({ id, name, arguments: toolArguments }) {
      const parsed = parseToolCall(name, toolArguments)
      if (phase.rules.tools === 'opt_out_only') return calledTooLate(parsed)
      toolsInRow += 1
      if (parsed.kind === 'built_in' && isLastWord(parsed.call)) runBuiltIn(parsed.call, id)
      else if (toolsInRow > maxToolsInRow) refuse(id)
      else if (parsed.kind === 'built_in') runBuiltIn(parsed.call, id)
      else if (parsed.kind === 'invalid') session.toolResult(id, { error: parsed.error })
      else runner.start(id, name, toolArguments)
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
