import { isIP } from 'node:net'
import { isPublicAddress } from '../runtime/private-address.ts'
import type { AgreedAudio } from '../sdp/sdp.ts'
import type { NegotiatedMedia } from './carrier.ts'

export interface MediaSourceRule {
  /**
   * `declared`: the address of the SDP. `symmetric`: any sender until latched, where the trunk's setting allows it.
   */
  readonly media: 'declared' | 'symmetric'
  /** The trunk's signalling addresses. */
  readonly signalling: readonly string[]
}

/**
 * The accepted sources of a call's RTP. The SDP's address is one. If it is not a public address, its author is
 * behind a NAT, and packets also come from the signalling addresses.
 */
export const withMediaSources = (audio: AgreedAudio, rule: MediaSourceRule): NegotiatedMedia => {
  if (rule.media === 'symmetric') return { ...audio, otherSources: 'any' }
  const { address } = audio.remote
  const isBehindNat = isIP(address) === 0 || (!isPublicAddress(address) && !isLoopback(address))
  return isBehindNat ? { ...audio, otherSources: rule.signalling } : audio
}

// On this machine there is no NAT: each address is distinct.
const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1'
