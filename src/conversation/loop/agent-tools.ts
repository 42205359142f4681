import type { AnsweringParty } from '../answering-party/answering-party.ts'
import type { ConversationListener } from './conversation-types.ts'
import { longestGoodbyeMs, type HangUp } from './hang-up.ts'
import type { Keypad } from './keypad.ts'
import type { CallPhase } from './phases.ts'
import { createToolRunner, type ToolRunner } from '../tools/tool-runner.ts'
import { parseToolCall, type BuiltInCall, type ParsedToolCall } from '../tools/tools.ts'
import type { Transfer } from './transfer.ts'
import type { VoiceEvent, VoiceSession } from '../engine/voice-engine.ts'

type ToolCall = Extract<VoiceEvent, { type: 'tool_call' }>

interface AgentToolsOptions {
  readonly session: Pick<VoiceSession, 'toolResult' | 'say'>
  /** Said when the agent has done nothing but call tools. */
  readonly pardon: string
  readonly listener: ConversationListener
  readonly phase: CallPhase
  readonly hangUp: Pick<HangUp, 'request'>
  readonly party: Pick<AnsweringParty, 'voicemailTool'>
  readonly transfer: Pick<Transfer, 'request'>
  readonly keypad: Pick<Keypad, 'send'>
}

/** A model that calls tools in an endless loop must wait until the callee has spoken. */
const maxToolsInRow = 20

/** Runs the tools that the model calls, as far as the phase of the call allows it. */
export class AgentTools {
  readonly #options: AgentToolsOptions
  readonly #runner: ToolRunner
  #toolsInRow = 0
  #isOptedOut = false
  #reportedOutcome: string | undefined

  constructor(options: AgentToolsOptions) {
    const { session, listener } = options
    this.#options = options
    this.#runner = createToolRunner(listener.runTool?.bind(listener), (id, result) =>
      session.toolResult(id, result),
    )
  }

  get isOptedOut(): boolean {
    return this.#isOptedOut
  }

  /** The outcome that the agent gave when it ended the call. */
  get reportedOutcome(): string | undefined {
    return this.#reportedOutcome
  }

  /** Runs what the phase allows. Once the call is over, only an opt-out counts. */
  called({ id, name, arguments: toolArguments }: ToolCall): void {
    const { phase, session } = this.#options
    const parsed = parseToolCall(name, toolArguments)
    if (phase.rules.tools === 'opt_out_only') return this.#calledTooLate(parsed)
    this.#toolsInRow += 1
    if (parsed.kind === 'built_in' && isLastWord(parsed.call)) this.#runBuiltIn(parsed.call, id)
    else if (this.#toolsInRow > maxToolsInRow) this.#refuse(id)
    else if (parsed.kind === 'built_in') this.#runBuiltIn(parsed.call, id)
    else if (parsed.kind === 'invalid') session.toolResult(id, { error: parsed.error })
    else this.#runner.start(id, name, toolArguments)
  }

  /** The callee opted out; reported once. */
  optOut(): void {
    if (this.#isOptedOut) return
    this.#isOptedOut = true
    this.#options.listener.onOptOut()
  }

  /** The callee spoke: the model's budget of tool calls is full again. */
  heardWords(): void {
    this.#toolsInRow = 0
  }

  /** One tick. Returns true when a tool takes so long that the callee should be told. */
  tick(): boolean {
    return this.#runner.tick()
  }

  #runBuiltIn(call: BuiltInCall, id: string): void {
    const { session, phase, listener, party, transfer, keypad } = this.#options
    switch (call.name) {
      case 'end_call':
        return this.#endCall(call.outcome, id)
      case 'opt_out':
        this.optOut()
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

  #endCall(outcome: string | undefined, id: string): void {
    const { session, hangUp } = this.#options
    this.#reportedOutcome = outcome
    session.toolResult(id, { ended: true }, false)
    const reason = this.#isOptedOut ? 'opted_out' : 'agent_ended'
    hangUp.request(reason, { awaitsSpeech: false, limitMs: longestGoodbyeMs })
  }

  #calledTooLate(parsed: ParsedToolCall): void {
    if (parsed.kind === 'built_in' && parsed.call.name === 'opt_out') this.optOut()
  }

  /** The callee has waited so long that the agent invites them to speak. */
  #refuse(id: string): void {
    const { session, pardon } = this.#options
    session.toolResult(id, tooMany, false)
    if (this.#toolsInRow === maxToolsInRow + 1) session.say(pardon)
  }
}

const tooMany = { error: 'Too many tools in a row: wait for the person.' }

/** Tools that run however many the model has called before. */
const isLastWord = ({ name }: BuiltInCall): boolean => name === 'end_call' || name === 'opt_out'
