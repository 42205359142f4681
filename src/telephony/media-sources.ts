import { isIP } from 'node:net'
import { isPublicAddress } from '../runtime/private-address.ts'
import type { AgreedAudio } from '../sdp/sdp.ts'
import type { NegotiatedMedia } from './carrier.ts'

export interface MediaSourceRule {
  /** `declared`: the address of the SDP. `symmetric`: anybody until latched, where the trunk asks for it. */
  readonly media: 'declared' | 'symmetric'
  /** Where the trunk signals from. */
  readonly signalling: readonly string[]
}

/**
 * Whose RTP is the call's. The SDP's address is; where it is one that no host on the internet has, its author sits behind
 * a NAT, and packets come from where it signals too.
 */
export const withMediaSources = (audio: AgreedAudio, rule: MediaSourceRule): NegotiatedMedia => {
  if (rule.media === 'symmetric') return { ...audio, otherSources: 'any' }
  const { address } = audio.remote
  const isBehindNat = isIP(address) === 0 || (!isPublicAddress(address) && !isLoopback(address))
  return isBehindNat ? { ...audio, otherSources: rule.signalling } : audio
}

// On this machine there is no NAT: each address is told apart.
const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1'
