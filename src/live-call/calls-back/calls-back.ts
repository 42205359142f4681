import { callBackAnswerOf } from '../../domains/calls-back/choose-answer.ts'
import {
  claimCallBack,
  finishCallBack,
  type CallBackEnd,
} from '../../domains/calls-back/calls-back-store.ts'
import type { FindOurNumber } from '../../domains/calls-back/our-numbers.ts'
import type { CallBackAnswer, CallBackResult } from '../../contract/calls-back.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Database } from '../../database/database.ts'
import { newId } from '../../runtime/ids.ts'
import { maskPhoneNumber, type Logger } from '../../runtime/logger.ts'
import type { Service } from '../../runtime/service.ts'
import type { Telemetry } from '../../runtime/telemetry.ts'
import type { CallBack } from '../../telephony/incoming/call-back.ts'
import type { CallBackLine, TakeCallBack } from '../trunks/receive-calls-back.ts'
import type { PlayMessage } from './play-message.ts'

interface CallsBackOptions {
  readonly database: Database
  readonly findNumber: FindOurNumber
  /** For numbers whose organization says nothing. */
  readonly installation: CallBackAnswer
  /** Calls back that may be answered at once on this node. They count against no trunk's channels. */
  readonly channels: number
  readonly playMessage: PlayMessage
  readonly telemetry: Telemetry
  readonly logger: Logger
}

interface CallsBack extends Service {
  readonly take: TakeCallBack
}

/** Calls back without their answer yet, and those that hear a message. */
const maxOpen = 200
/** A busy node asks the trunk to try again then. */
const retrySeconds = 5
/** A caller is not kept waiting by a slow database. */
const decideLimitMs = 8_000

interface Decision {
  readonly organizationId: OrganizationId | undefined
  readonly calledNumber: string
  readonly answer:
    CallBackAnswer | { readonly kind: 'unknown_number' | 'failed'; readonly reason: string }
}

/** How a call back is answered at once; a message follows its own way. */
interface Verdict {
  readonly result: CallBackResult
  readonly sipStatus: number
  readonly reason?: string | undefined
  readonly send: () => void
}

/**
 * Gives every call of a person to us exactly one answer: by its number's organization, else by the installation. An
 * answered one is a `CallLeg` like those that we dial, so that a conversation can take the place of the message.
 */
export const createCallsBack = (options: CallsBackOptions): CallsBack => {
  const { database, logger, telemetry } = options
  const open = new Set<Promise<void>>()
  const stopping = new AbortController()
  let playing = 0

  const serve = async (call: CallBack, line: CallBackLine): Promise<void> => {
    let isLate = false
    const impatience = setTimeout(() => {
      isLate = true
      call.decline(503, retrySeconds)
    }, decideLimitMs)
    const decision = await decide(options, call).finally(() => clearTimeout(impatience))
    if (isLate) return telemetry.count('outdial_calls_back_total', { result: 'refused' })
    const id = newId()
    const { answer } = decision
    const isMessage =
      answer.kind === 'message' && playing < options.channels && !call.cancelled.aborted
    // Before the next await, so that no two take the last one.
    if (isMessage) playing += 1
    try {
      const verdict = isMessage ? undefined : verdictOf(call, decision)
      const isFirst = await claim(options, id, call, line, decision, verdict)
      if (!isFirst) return call.decline(482)
      verdict?.send()
      const end = isMessage
        ? await options.playMessage({ call, line, text: answer.text, signal: stopping.signal })
        : verdict
      if (end === undefined) return
      report(id, call, line, decision, end)
      if (isMessage) await finishCallBack(database, id, end)
    } finally {
      if (isMessage) playing -= 1
    }
  }

  const report = (
    id: string,
    { caller }: CallBack,
    { name }: CallBackLine,
    { calledNumber }: Decision,
    { result, sipStatus, reason }: CallBackEnd,
  ): void => {
    telemetry.count('outdial_calls_back_total', { result })
    const facts = {
      call_back_id: id,
      trunk: name,
      from: caller === undefined ? 'withheld' : maskPhoneNumber(caller),
      to: maskPhoneNumber(calledNumber),
      result,
      sip_status: sipStatus,
      ...(reason !== undefined && { reason }),
    }
    logger.info(facts, 'a call back has had its answer')
  }

  return {
    start: async () => {},
    stop: async () => {
      stopping.abort()
      await Promise.all(open)
    },
    take: (call, line) => {
      if (stopping.signal.aborted || open.size >= maxOpen) {
        telemetry.count('outdial_calls_back_total', { result: 'refused' })
        return call.decline(503, retrySeconds)
      }
      const work = serve(call, line)
        .catch((error: unknown) => {
          logger.error({ err: error, trunk: line.name }, 'a call back could not be served')
          telemetry.count('outdial_calls_back_total', { result: 'refused' })
          // Does nothing where it has its answer.
          call.decline(503, retrySeconds)
        })
        .finally(() => open.delete(work))
      open.add(work)
    },
  }
}

const maxCalledLength = 64

const decide = async (
  { database, findNumber, installation }: CallsBackOptions,
  { called }: CallBack,
): Promise<Decision> => {
  const found = await findNumber(database, called)
  if (found === undefined)
    return {
      organizationId: undefined,
      calledNumber: (called[0]?.e164[0] ?? called[0]?.text ?? '').slice(0, maxCalledLength),
      answer: { kind: 'unknown_number', reason: 'It is none of our numbers.' },
    }
  const answer = await callBackAnswerOf(database, found.organizationId, installation)
  return { organizationId: found.organizationId, calledNumber: found.number, answer }
}

const verdictOf = (call: CallBack, { answer }: Decision): Verdict => {
  const decline = (result: CallBackResult, sipStatus: number, reason?: string): Verdict => ({
    result,
    sipStatus,
    reason,
    send: () => call.decline(sipStatus),
  })
  if (call.cancelled.aborted) return decline('cancelled', 487, 'The caller gave up.')
  switch (answer.kind) {
    case 'decline':
      return decline('declined', answer.status)
    case 'forward':
      return { result: 'forwarded', sipStatus: 302, send: () => call.forward(answer.to) }
    case 'unknown_number':
      return decline('unknown_number', 404, answer.reason)
    case 'failed':
      return decline('failed', 480, answer.reason)
    case 'message':
      return decline('busy', 486, 'As many callers as may be answered at once hear the message.')
  }
}

const claim = (
  { database }: CallsBackOptions,
  id: string,
  { mergeKey, caller }: CallBack,
  { name }: CallBackLine,
  { organizationId, calledNumber }: Decision,
  verdict: Verdict | undefined,
): Promise<boolean> =>
  claimCallBack(database, {
    id,
    organizationId,
    mergeKey,
    trunk: name,
    phoneNumber: caller,
    calledNumber,
    result: verdict?.result ?? 'message',
    sipStatus: verdict?.sipStatus,
    reason: verdict?.reason,
  })
