import type { TrunkInput } from './trunk-settings.ts'

/**
 * What carriers publish about their trunks, as a beginning: every option that is given goes before it. A preset without
 * `uris` needs the address that the carrier gave to its customer. Pages change; the guides in docs/trunks.md name the
 * setting to look for.
 */
export const presets: Readonly<Record<string, Partial<TrunkInput>>> = {
  // https://www.twilio.com/docs/sip-trunking: termination URI of the customer, E.164 with +, one call per second for new
  // accounts, the caller ID in From; TLS on 5061 with SRTP under "Secure Trunking".
  twilio: { number_format: 'plus', cps: 1, codecs: ['pcmu', 'pcma'] },
  // https://developers.telnyx.com/docs/voice/sip-trunking: sip.telnyx.com by UDP, TCP or TLS, credentials or address, E.164
  // with +; the caller ID is taken from P-Asserted-Identity first.
  telnyx: { uris: ['sip:sip.telnyx.com;transport=tcp'], number_format: 'plus', identity: 'pai' },
  // https://developer.vonage.com/en/voice/sip: sip.nexmo.com, the API key as user, numbers without +, three calls a second.
  vonage: { uris: ['sip:sip.nexmo.com;transport=tcp'], number_format: 'e164', cps: 3 },
  // https://dev.bandwidth.com/docs/voice: authentication by address, two addresses of the customer, E.164 with +, the caller
  // ID in P-Asserted-Identity.
  bandwidth: { number_format: 'plus', identity: 'pai' },
  // https://www.telekom.de (CompanyFlex, 1TR118): the registrar is found by SRV, TLS with SRTP, REGISTER with the trunk's
  // number as user, the caller ID in P-Preferred-Identity, A-law first.
  telekom: {
    uris: ['sip:tel.t-online.de;transport=tls'],
    from_domain: 'tel.t-online.de',
    register: true,
    register_seconds: 480,
    identity: 'ppi',
    srtp: 'required',
    codecs: ['pcma', 'pcmu'],
    number_format: 'plus',
  },
  // https://help.sipgate.de (sipgate trunking): REGISTER at sipconnect.sipgate.de with the SIP-ID as user, From is the
  // SIP-ID, the caller ID in P-Preferred-Identity without +, A-law.
  sipgate: {
    uris: ['sip:sipconnect.sipgate.de'],
    from_domain: 'sipconnect.sipgate.de',
    register: true,
    identity: 'ppi',
    number_format: 'e164',
    codecs: ['pcma', 'pcmu'],
  },
  // https://www.peoplefone.com (SIP trunk): REGISTER at sips.peoplefone.ch with the trunk's user, E.164 with +, the caller
  // ID in P-Asserted-Identity.
  peoplefone: {
    uris: ['sip:sips.peoplefone.ch'],
    register: true,
    identity: 'pai',
    number_format: 'plus',
    codecs: ['pcma', 'pcmu'],
  },
  // https://docs.asterisk.org (chan_pjsip): an endpoint with user and password; trust_id_inbound takes the caller ID from
  // P-Asserted-Identity.
  asterisk: { number_format: 'plus', identity: 'pai', cps: 20 },
  // https://developer.signalwire.com/freeswitch (sofia): a directory user or an ACL; the external profile listens on 5080.
  freeswitch: { number_format: 'plus', identity: 'pai', cps: 20 },
}

export const presetNames = Object.keys(presets)
