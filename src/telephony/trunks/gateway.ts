import type { WeakestDigest } from '../../sip/digest/digest-policy.ts'
import { parseTrunkUri, type Trunk } from '../trunk-uri.ts'
import type { InviteShape, NumberFormat } from './invite-shape.ts'

/** What telephony needs to know of a trunk; a change of the definition makes a new one. */
export interface TrunkDefinition {
  readonly name: string
  /** In the order in which they are tried. */
  readonly uris: readonly string[]
  readonly credentials?: { readonly username: string; readonly password: string } | undefined
  readonly realm?: string | undefined
  /** Undefined: MD5 is answered, with a warning. */
  readonly auth?: WeakestDigest | undefined
  readonly media: 'declared' | 'symmetric'
  readonly numberFormat: NumberFormat
  readonly shape: InviteShape
  readonly outboundProxy?: string | undefined
  /** Hosts that a 3xx may lead to. */
  readonly redirectTo: readonly string[]
  readonly codecs: readonly ('pcmu' | 'pcma')[]
  /** Seconds to ask for; undefined: the trunk needs no registration. */
  readonly registerSeconds?: number | undefined
  readonly srtp: 'off' | 'preferred' | 'required'
  readonly dtmf: 'rfc4733' | 'info' | 'inband' | 'auto'
  readonly tls?: TrunkTls | undefined
}

export interface TrunkTls {
  readonly ca?: string | undefined
  readonly cert?: string | undefined
  readonly key?: string | undefined
  readonly serverName?: string | undefined
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
  readonly verify: boolean
}

/** One URI of a definition, as the SIP carrier takes it. */
export const gatewayTrunk = (definition: TrunkDefinition, uri: string): Trunk => ({
  ...parseTrunkUri(uri),
  media: definition.media,
  srtp: definition.srtp,
  dtmf: definition.dtmf,
  ...(definition.redirectTo.length > 0 && { redirectTo: definition.redirectTo }),
  ...(definition.auth !== undefined && { auth: definition.auth }),
  ...(definition.credentials !== undefined && { credentials: definition.credentials }),
})
