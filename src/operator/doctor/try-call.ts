import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { newId } from '../../runtime/ids.ts'
import { maskPhoneNumber } from '../../runtime/logger.ts'
import type { DialFailure } from '../../telephony/carrier.ts'
import type { Line } from '../../telephony/line.ts'
import { failed, ok, type Finding } from './finding.ts'

/** A phone that does not ring within this time will not ring. */
const ringTimeoutMs = 20_000

/** Places one call and ends it as soon as the phone rings or is answered. */
export const tryCall = async (
  { carrier, callerId, mediaBindAddress }: Line,
  to: string,
): Promise<Finding> => {
  if (callerId === undefined)
    return failed(
      'call',
      'No call was tried: set OUTDIAL_CALLER_ID to a number of yours, which the trunk shows to the callee.',
    )
  const media = createSocket(mediaBindAddress.includes(':') ? 'udp6' : 'udp4')
  media.bind(0, mediaBindAddress)
  await once(media, 'listening')
  const enough = new AbortController()
  try {
    const outcome = await carrier.dial(
      {
        callId: newId(),
        to,
        callerId,
        ringTimeoutMs,
        localMedia: { address: mediaBindAddress, port: media.address().port },
        mayInvite: () => true,
        onProgress: ({ kind }) => {
          if (kind === 'ringing') enough.abort()
        },
      },
      enough.signal,
    )
    const phone = maskPhoneNumber(to)
    if (outcome.kind === 'failed') return describeFailure(phone, outcome.failure)
    await outcome.leg.hangUp()
    return ok('call', `${phone} was reached and answered; the call was ended at once.`)
  } finally {
    media.close()
  }
}

const describeFailure = (phone: string, failure: DialFailure): Finding => {
  const { cause, reason, rang } = failure
  if (rang) return ok('call', `${phone} rang; the call was ended at once.`)
  if (cause === 'busy') return ok('call', `${phone} was reached and is busy (${reason}).`)
  return failed('call', `${phone} was not reached: ${reason}${remedyOf(failure)}`)
}

const remedyOf = ({ cause, sipStatus }: DialFailure): string => {
  if (cause === 'authentication') return ' Check user and password in OUTDIAL_SIP_TRUNK.'
  if (cause === 'no_route')
    return ' Check host, port and transport in OUTDIAL_SIP_TRUNK and the firewall.'
  if (cause === 'media_mismatch')
    return ' The carrier wants another codec or SRTP: turn SRTP off there; Outdial speaks G.711.'
  if (cause === 'congestion') return ' The carrier has no room at this moment: try again.'
  if (sipStatus === 403)
    return ' Check that OUTDIAL_CALLER_ID is yours at the carrier, and that it allows this country.'
  if (sipStatus === 404 || sipStatus === 484 || sipStatus === 604)
    return ' Check the number, and how the carrier wants numbers written.'
  return ''
}
