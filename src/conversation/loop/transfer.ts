import { frameMs } from '../../audio/frame.ts'
import type { TransferResult } from './conversation-types.ts'
import type { CallPhase, PhaseName } from './phases.ts'

/**
 * Transfers the call to a colleague at the agent's request. The agent's settings name the target;
 * the callee cannot.
 */
export interface Transfer {
  /** The agent called `transfer_call`. */
  request(toolCallId: string): void
  /** One tick. `isBusy`: the agent has speech to play. */
  tick(isBusy: boolean): void
  /** Whether the carrier has been asked and has not given its final response. */
  readonly isUnderWay: boolean
}

interface TransferActions {
  readonly phase: CallPhase
  /** Absent: this agent cannot transfer. */
  readonly ask: (() => Promise<TransferResult>) | undefined
  readonly sendToolResult: (toolCallId: string, result: unknown, goOn: boolean) => void
  readonly onTransferred: () => void
}

/**
 * The agent's words beside the tool call ("I will connect you") may begin after it, and are played
 * to the end.
 */
const quietBeforeMs = 300
const longestAnnouncementMs = 15_000

export const createTransfer = (actions: TransferActions): Transfer => {
  const { phase, ask, sendToolResult, onTransferred } = actions
  let requested: { readonly toolCallId: string; waitedMs: number; quietMs: number } | undefined
  let isUnderWay = false
  /** The phase to return to when the transfer fails. */
  let phaseBefore: PhaseName = phase.name

  const settle = (toolCallId: string, result: TransferResult): void => {
    isUnderWay = false
    if (phase.name === 'transferring') phase.enter(phaseBefore)
    sendToolResult(toolCallId, result, !result.transferred)
    if (result.transferred) onTransferred()
  }

  const begin = (toolCallId: string, start: () => Promise<TransferResult>): void => {
    requested = undefined
    phaseBefore = phase.name
    if (!phase.enter('transferring')) return sendToolResult(toolCallId, tooLate, false)
    isUnderWay = true
    start().then(
      (result) => settle(toolCallId, result),
      () => settle(toolCallId, { transferred: false, reason: 'The transfer failed.' }),
    )
  }

  return {
    request(toolCallId) {
      if (!ask) return sendToolResult(toolCallId, { error: 'There is no such tool.' }, true)
      if (requested || isUnderWay) {
        return sendToolResult(toolCallId, { error: 'A transfer is under way already.' }, false)
      }
      requested = { toolCallId, waitedMs: 0, quietMs: 0 }
    },
    tick(isBusy) {
      if (!requested || !ask) return
      requested.waitedMs += frameMs
      requested.quietMs = isBusy ? 0 : requested.quietMs + frameMs
      const isHeard = requested.quietMs >= quietBeforeMs
      if (isHeard || requested.waitedMs >= longestAnnouncementMs) begin(requested.toolCallId, ask)
    },
    get isUnderWay() {
      return isUnderWay
    },
  }
}

const tooLate: TransferResult = { transferred: false, reason: 'The call is ending.' }
