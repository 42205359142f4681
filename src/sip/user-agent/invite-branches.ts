import type { AgentContext } from '../dialog/agent-context.ts'
import { callerDialog } from '../dialog/dialog-state.ts'
import type { DigestClient } from '../digest/digest.ts'
import { cseqOf, tagOf } from '../message/headers.ts'
import { InviteDialog } from '../dialog/invite-dialog.ts'
import { headerOf, listsToken, type SipRequest, type SipResponse } from '../message/message.ts'
import type { InviteOptions } from './user-agent-types.ts'

/** One branch of a forked INVITE: its dialog, and the highest RSeq acknowledged in it (RFC 3262 4). */
interface InviteBranch {
  readonly dialog: InviteDialog
  lastRSeq: number
  isConfirmed: boolean
}

/**
 * The phones that one INVITE reached, distinguished by the To tags of their responses (RFC 3261 12.1.2, 13.2.2.4).
 */
export interface InviteBranches {
  /**
   * The branch of a response, created by its first one; none for a 100, nor beyond the limit. `firstHop` is the
   * address the INVITE went to.
   */
  of(
    invite: SipRequest,
    response: SipResponse,
    firstHop: string | undefined,
  ): InviteBranch | undefined
  /** Drops the early dialogs that were not chosen. */
  dropAllBut(chosen: InviteBranch | undefined): void
}

// The maximum number of forks of one INVITE that are distinguished.
const maxBranches = 16

export const createInviteBranches = (
  context: AgentContext,
  digest: DigestClient,
  onEarlyOffer: InviteOptions['onEarlyOffer'],
): InviteBranches => {
  const branches = new Map<string, InviteBranch>()
  return {
    of: (invite, response, firstHop) => {
      if (response.status === 100) return undefined
      const tag = tagOf(response, 'to') ?? ''
      const known = branches.get(tag)
      if (known !== undefined || branches.size >= maxBranches) return known
      const state = callerDialog(invite, response)
      const dialog = new InviteDialog(context, { state, remoteSdp: '', digest, firstHop })
      dialog.onOffer((offer) => onEarlyOffer?.(offer))
      const branch: InviteBranch = { dialog, lastRSeq: 0, isConfirmed: false }
      branches.set(tag, branch)
      return branch
    },
    dropAllBut: (chosen) => {
      for (const [tag, branch] of branches) {
        if (branch === chosen || branch.isConfirmed) continue
        branch.dialog.abandon()
        branches.delete(tag)
      }
    },
  }
}

/** Acknowledges a reliable provisional response by PRACK; `false` for a repeated or early one (RFC 3262 4). */
export const acknowledgeReliable = (
  invite: SipRequest,
  response: SipResponse,
  branch: InviteBranch,
): boolean => {
  const rseq = Number(headerOf(response, 'rseq'))
  if (!listsToken(response, 'require', '100rel') || !Number.isInteger(rseq)) return true
  if (branch.lastRSeq !== 0 && rseq !== branch.lastRSeq + 1) return false
  branch.lastRSeq = rseq
  const rack = `${rseq} ${cseqOf(invite).sequence} INVITE`
  void branch.dialog.request('PRACK', { headers: { rack } })
  return true
}
