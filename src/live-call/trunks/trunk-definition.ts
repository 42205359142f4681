import type { KeptSecrets } from '../../domains/trunks/trunk-resource.ts'
import type { TrunkRow } from '../../domains/trunks/trunk-store.ts'
import type { TrunkDefinition } from '../../telephony/trunks/gateway.ts'
import { numberFormatOf } from '../../telephony/trunks/invite-shape.ts'

/** What telephony dials by, from what an administrator set. */
export const trunkDefinitionOf = (
  { name, settings }: Pick<TrunkRow, 'name' | 'settings'>,
  { password, tls_key: key }: KeptSecrets,
): TrunkDefinition => ({
  name,
  uris: settings.uris,
  credentials:
    settings.user === undefined ? undefined : { username: settings.user, password: password ?? '' },
  realm: settings.realm,
  auth: settings.auth,
  media: settings.media,
  numberFormat: numberFormatOf(settings.number_format, settings.strip),
  shape: {
    fromUser: settings.from_user,
    fromDomain: settings.from_domain,
    identity: settings.identity,
    privacy: settings.privacy,
    diversion: settings.diversion,
    headers: settings.headers,
  },
  outboundProxy: settings.outbound_proxy,
  redirectTo: settings.redirect_to ?? [],
  codecs: settings.codecs,
  registerSeconds: settings.register ? settings.register_seconds : undefined,
  srtp: settings.srtp,
  dtmf: settings.dtmf,
  tls: settings.tls && {
    ca: settings.tls.ca,
    cert: settings.tls.certificate,
    key,
    serverName: settings.tls.server_name,
    minVersion: settings.tls.min_version,
    verify: settings.tls.verify,
  },
})
