import { ipv6Messages } from './rfc5118.ts'

/**
 * Messages in the style of RFC 4475, one for each of its traps, with its names: short ones beside the originals of
 * `rfc4475.ts`, and those of RFC 5118. LF stands for CRLF. `section` is the one of the RFC; `fault` is the refusal status
 * of such a request, absent if it must be accepted.
 */
export interface TortureMessage {
  readonly name: string
  readonly section: string
  readonly text: string
  readonly fault?: 400 | 505
  /** The status that a user agent without calls responds with. */
  readonly answer?: number
}

interface Fields {
  readonly start?: string
  readonly via?: string
  readonly from?: string
  readonly to?: string
  readonly callId?: string
  readonly cseq?: string
  readonly maxForwards?: string
  readonly extra?: readonly string[]
  readonly contentLength?: string
  readonly body?: string
}

const compose = (fields: Fields): string => {
  const body = fields.body ?? ''
  return [
    fields.start ?? 'OPTIONS sip:user@example.com SIP/2.0',
    `Via: ${fields.via ?? 'SIP/2.0/UDP host.example.com;branch=z9hG4bKtorture'}`,
    `From: ${fields.from ?? '<sip:caller@example.net>;tag=33242'}`,
    `To: ${fields.to ?? '<sip:user@example.com>'}`,
    `Call-ID: ${fields.callId ?? 'torture.0ha0isndaksdj'}`,
    `CSeq: ${fields.cseq ?? '8 OPTIONS'}`,
    `Max-Forwards: ${fields.maxForwards ?? '70'}`,
    ...(fields.extra ?? []),
    `Content-Length: ${fields.contentLength ?? String(Buffer.byteLength(body))}`,
    '',
    body,
  ].join('\n')
}

/** A description whose lengths in bytes and characters differ. */
const sdp = 'v=0\r\no=- 2 3 IN IP4 192.0.2.3\r\ns=Gr\u00fc\u00dfe\r\n'.replaceAll('\r\n', '\n')

const valid: readonly TortureMessage[] = [
  {
    name: 'wsinv: folding, white space and compact names everywhere',
    section: '3.1.1.1',
    text: [
      'INVITE sip:vivekg@chair-dnrc.example.com;unknownparam SIP/2.0',
      'TO :',
      ' sip:vivekg@chair-dnrc.example.com ;   tag    = 1918181833n',
      'from   : "J Rosenberg \\\\\\""       <sip:jdrosen@example.com>',
      '  ;',
      '  tag = 98asjd8',
      'MaX-fOrWaRdS: 0068',
      'Call-ID: wsinv.ndaksdj@192.0.2.1',
      'Content-Length   : 0',
      'cseq: 0009',
      '  INVITE',
      'Via  : SIP  /   2.0',
      ' /UDP',
      '    192.0.2.2;branch=390skdjuw',
      's :',
      'NewFangledHeader:   newfangled value',
      ' continued newfangled value',
      'UnknownHeaderWithUnusualValue: ;;,,;;,;',
      'Content-Type: application/sdp',
      'Route:',
      ' <sip:services.example.com;lr;unknownwith=value;unknown-no-value>',
      'v:  SIP  / 2.0  / TCP     spindle.example.com   ;',
      '  branch  =   z9hG4bK9ikj8  ,',
      ' SIP  /    2.0   / UDP  192.168.255.111   ; branch=',
      ' z9hG4bK30239',
      'm:"Quoted string \\"\\"" <sip:jdrosen@example.com> ; newparam =',
      '      newvalue ;',
      '  secondparam ; q = 0.33',
      '',
      '',
    ].join('\n'),
  },
  {
    name: 'intmeth: every character a token, user and word may hold',
    section: '3.1.1.2',
    text: compose({
      start:
        "!interesting-Method0123456789_*+`.%indeed'~ sip:1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*:&it+has=1,weird!*pas$wo~d_too.(doesn't-it)@example.com SIP/2.0",
      via: "SIP/2.0/TCP host1.example.com;branch=z9hG4bK-.!%66*_+`'~",
      to: '"BEL:\\\u0007 NUL:\\\0 DEL:\\\u007f" <sip:1_unusual.URI~(to-be!sure)&isn\'t+it$/crazy?,/;;*@example.com>',
      from: "token1~` token2'+_ token3*%!.- <sip:mundane@example.com>;fromParam''~+*_!.-%=\"\u0440\u0430\u0431\";tag=_token~1'+`*%!-.",
      callId: 'intmeth.word%ZK-!.*_+\'@word`~)(><:\\/"][?}{',
      cseq: "139122385 !interesting-Method0123456789_*+`.%indeed'~",
      maxForwards: '255',
      extra: ["extensionHeader-!.%*+_`'~:\ufeff\u5927\u505c\u96fb"],
    }),
  },
  {
    name: 'esc01: escaped characters in URIs',
    section: '3.1.1.3',
    text: compose({
      start: 'INVITE sip:sips%3Auser%40example.com@example.net SIP/2.0',
      cseq: '234234 INVITE',
      to: 'sip:%75se%72@example.com',
      from: '<sip:I%20have%20spaces@example.net>;tag=938',
      extra: ['Contact:', '  <sip:cal%6Cer@host5.example.net;%6C%72;n%61me=v%61lue%25%34%31>'],
    }),
  },
  {
    name: 'escnull: escaped NULs in a user',
    section: '3.1.1.4',
    text: compose({
      start: 'REGISTER sip:example.com SIP/2.0',
      to: 'sip:null-%00-null@example.com',
      from: 'sip:null-%00-null@example.com;tag=839923423',
      cseq: '14398234 REGISTER',
      extra: ['Contact: <sip:%00@host5.example.com>', 'Contact: <sip:%00%00@host5.example.com>'],
    }),
  },
  {
    name: 'esc02: a percent sign where it escapes nothing',
    section: '3.1.1.5',
    text: compose({
      start: 'RE%47IST%45R sip:registrar.example.com SIP/2.0',
      to: '"%Z%45" <sip:resource@example.com>',
      from: '"%Z%45" <sip:resource@example.com>;tag=f232jadfj23',
      cseq: '29344 RE%47IST%45R',
      extra: ['C%6Fntact: <sip:alias2@host2.example.com>'],
    }),
  },
  {
    name: 'lwsdisp: no white space between display name and bracket',
    section: '3.1.1.6',
    text: compose({ from: 'caller<sip:caller@example.com>;tag=323' }),
  },
  {
    name: 'longreq: values far longer than usual',
    section: '3.1.1.7',
    text: compose({
      to: `"I have a user name of ${'extreme'.repeat(20)} proportion"<sip:user@example.com:6000;unknownparam1=verylong${'value'.repeat(40)}>`,
      callId: `longreq.one${'really'.repeat(20)}longcallid`,
      extra: [
        `Unknown-${'Long'.repeat(20)}-Name: unknown-${'long'.repeat(60)}-value`,
        ...Array.from(
          { length: 30 },
          (_, index) =>
            `Via: SIP/2.0/TCP sip${index}.example.com;branch=z9hG4bK${'0123'.repeat(9)}`,
        ),
      ],
    }),
  },
  {
    name: 'dblreq: a second request behind the first in one datagram',
    section: '3.1.1.8',
    text: `${compose({ cseq: '8 REGISTER', start: 'REGISTER sip:example.com SIP/2.0' })}${compose({})}`,
  },
  {
    name: 'semiuri: parameters inside the user part',
    section: '3.1.1.9',
    text: compose({ start: 'OPTIONS sip:user;par=u%40example.net@example.com SIP/2.0' }),
  },
  {
    name: 'transports: known and unknown transports in Via',
    section: '3.1.1.10',
    text: compose({
      extra: [
        'Via: SIP/2.0/SCTP t2.example.com;branch=z9hG4bKklasjdhf',
        'Via: SIP/2.0/UNKNOWN t4.example.com;branch=z9hG4bKasd0f3en',
      ],
    }),
  },
  {
    name: 'mpart01: a body with bytes that are no text',
    section: '3.1.1.11',
    text: compose({
      start: 'MESSAGE sip:kumiko@example.org SIP/2.0',
      cseq: '127 MESSAGE',
      extra: ['Content-Type: multipart/mixed;boundary=7a9cbec02ceef655'],
      body: '--7a9cbec02ceef655\n\u0000\u0001\u0007\n--7a9cbec02ceef655--',
    }),
  },
  {
    name: 'unreason: a reason phrase beyond ASCII',
    section: '3.1.1.12',
    text: compose({
      start: 'SIP/2.0 200 = 2**3 * 5**2 \u043d\u043e \u0441\u0442\u043e',
      cseq: '35 INVITE',
    }),
  },
  {
    name: 'noreason: an empty reason phrase',
    section: '3.1.1.13',
    text: compose({ start: 'SIP/2.0 100 ', cseq: '35 INVITE' }),
  },
  {
    name: 'baddate: a Date in another time zone than GMT, which nothing of ours reads',
    section: '3.1.2.12',
    text: compose({ extra: ['Date: Fri, 01 Jan 2010 16:00:00 EST'] }),
  },
  {
    name: 'badbranch: the magic cookie and nothing after it',
    section: '3.2.1',
    text: compose({ via: 'SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK' }),
  },
  {
    name: 'unkscm: a request URI of an unknown scheme',
    section: '3.3.2',
    text: compose({ start: 'OPTIONS nobodyKnowsThisScheme:totallyopaquecontent SIP/2.0' }),
  },
  {
    name: 'novelsc: a known scheme that is not of SIP',
    section: '3.3.3',
    text: compose({ start: 'OPTIONS soap.beep://192.0.2.103:3002 SIP/2.0' }),
  },
  {
    name: 'unksm2: unknown schemes in From, To and Contact',
    section: '3.3.4',
    text: compose({
      start: 'REGISTER sip:example.com SIP/2.0',
      to: 'isbn:2983792873',
      from: '<http://www.example.com>;tag=3234233',
      cseq: '234902 REGISTER',
      extra: ['Contact: <name:John_Smith>'],
    }),
  },
  {
    name: 'zeromf: Max-Forwards 0 reaches an end point all the same',
    section: '3.3.11',
    text: compose({ maxForwards: '0' }),
  },
  {
    name: 'bcast: a Via with the broadcast address',
    section: '3.3.10',
    text: compose({
      start: 'SIP/2.0 200 OK',
      cseq: '35 INVITE',
      via: 'SIP/2.0/UDP 255.255.255.255;branch=z9hG4bK1saber23',
    }),
  },
  {
    name: 'inv2543: a request of RFC 2543, without branch, Max-Forwards or From tag',
    section: '3.4.1',
    text: [
      'INVITE sip:UserB@example.com SIP/2.0',
      'Via: SIP/2.0/UDP iftgw.example.com',
      'From: <sip:+13035551111@ift.client.example.net;user=phone>',
      'Record-Route: <sip:UserB@example.com;maddr=ss1.example.com>',
      'To: sip:+16505552222@ss1.example.net;user=phone',
      'Call-ID: inv2543.1717@ift.client.example.com',
      'CSeq: 56 INVITE',
      'Content-Type: application/sdp',
      '',
      sdp,
    ].join('\n'),
  },
]

/** Readable messages whose meaning is refused, or used in part. */
const understood: readonly TortureMessage[] = [
  {
    name: 'bext01: extensions that nobody knows are required',
    section: '3.3.5',
    text: compose({
      extra: [
        'Require: nothingSupportsThis, nothingSupportsThisEither',
        'Proxy-Require: noProxies',
      ],
    }),
    answer: 420,
  },
  {
    name: 'invut: a body of an unknown type',
    section: '3.3.6',
    text: compose({
      start: 'INVITE sip:user@example.com SIP/2.0',
      cseq: '8 INVITE',
      extra: ['Contact: <sip:caller@host5.example.net>', 'Content-Type: application/unknownformat'],
      body: '<audio>\n <pcmu port="443"/>\n</audio>\n',
    }),
    answer: 415,
  },
  {
    name: 'regaut01: credentials of an unknown scheme',
    section: '3.3.7',
    text: compose({
      start: 'REGISTER sip:example.com SIP/2.0',
      cseq: '8 REGISTER',
      extra: ['Authorization: NoOneKnowsThisScheme opaque-data=here'],
    }),
    answer: 405,
  },
  {
    name: 'cparam01: an unknown Contact parameter outside of brackets',
    section: '3.3.12',
    text: compose({
      start: 'REGISTER sip:example.com SIP/2.0',
      cseq: '9 REGISTER',
      extra: ['Contact: sip:+19725552222@gw1.example.net;unknownparam'],
    }),
    answer: 405,
  },
  {
    name: 'cparam02: an unknown URI parameter inside of brackets',
    section: '3.3.13',
    text: compose({
      start: 'REGISTER sip:example.com SIP/2.0',
      cseq: '10 REGISTER',
      extra: ['Contact: <sip:+19725552222@gw1.example.net;unknownparam>'],
    }),
    answer: 405,
  },
  {
    name: 'regescrt: an escaped header inside a Contact URI',
    section: '3.3.14',
    text: compose({
      start: 'REGISTER sip:example.com SIP/2.0',
      cseq: '11 REGISTER',
      extra: ['Contact: <sip:user@example.com?Route=%3Csip:sip.example.com%3E>'],
    }),
    answer: 405,
  },
  {
    name: 'sdp01: only a body is accepted that nobody knows',
    section: '3.3.15',
    text: compose({
      start: 'INVITE sip:user@example.com SIP/2.0',
      cseq: '12 INVITE',
      extra: [
        'Contact: <sip:caller@host5.example.net>',
        'Accept: text/nobodyKnowsThis',
        'Content-Type: application/sdp',
      ],
      body: sdp,
    }),
    // We send no such body.
    answer: 406,
  },
]

const invalid: readonly TortureMessage[] = [
  {
    name: 'badinv01: separators with nothing between them',
    section: '3.1.2.1',
    text: compose({ via: 'SIP/2.0/UDP 192.0.2.15;;,;,,' }),
    fault: 400,
  },
  {
    name: 'clerr: Content-Length beyond the end of the datagram',
    section: '3.1.2.2',
    text: compose({ contentLength: '9999', body: sdp }),
    fault: 400,
  },
  {
    name: 'ncl: a negative Content-Length',
    section: '3.1.2.3',
    text: compose({ contentLength: '-999', body: sdp }),
    fault: 400,
  },
  {
    name: 'scalar02: numbers too large for their fields',
    section: '3.1.2.4',
    text: compose({ cseq: '36893488147419103232 OPTIONS', maxForwards: '300' }),
    fault: 400,
  },
  {
    name: 'scalarlg: a response with numbers too large',
    section: '3.1.2.5',
    text: compose({
      start: 'SIP/2.0 503 Service Unavailable',
      cseq: '9292394834772304023312 OPTIONS',
    }),
    fault: 400,
  },
  {
    name: 'quotbal: a quoted string that does not end',
    section: '3.1.2.6',
    text: compose({ to: '"Mr. J. User <sip:j.user@example.com>' }),
    fault: 400,
  },
  {
    name: 'ltgtruri: brackets around the request URI',
    section: '3.1.2.7',
    text: compose({ start: 'OPTIONS <sip:user@example.com> SIP/2.0' }),
    fault: 400,
  },
  {
    name: 'lwsruri: white space inside the request URI',
    section: '3.1.2.8',
    text: compose({ start: 'OPTIONS sip:user@example.com; lr SIP/2.0' }),
    fault: 400,
  },
  {
    name: 'lwsstart: more than one space in the request line',
    section: '3.1.2.9',
    text: compose({ start: 'OPTIONS  sip:user@example.com  SIP/2.0' }),
    fault: 400,
  },
  {
    name: 'trws: white space after the version',
    section: '3.1.2.10',
    text: compose({ start: 'OPTIONS sip:user@example.com SIP/2.0  ' }),
    fault: 400,
  },
  {
    name: 'escruri: header fields inside the request URI',
    section: '3.1.2.11',
    text: compose({ start: 'OPTIONS sip:user@example.com?Route=%3Csip:example.com%3E SIP/2.0' }),
    fault: 400,
  },
  {
    name: 'regbadct: an unbracketed Contact with a question mark',
    section: '3.1.2.13',
    text: compose({ extra: ['Contact: sip:user@example.com?Route=%3Csip:sip.example.com%3E'] }),
    fault: 400,
  },
  {
    name: 'badaspec: spaces inside the brackets',
    section: '3.1.2.14',
    text: compose({ to: '"Watson, Thomas" < sip:t.watson@example.org >' }),
    fault: 400,
  },
  {
    name: 'baddn: a comma in an unquoted display name',
    section: '3.1.2.15',
    text: compose({ from: 'Bell, Alexander <sip:a.g.bell@example.com>;tag=43' }),
    fault: 400,
  },
  {
    name: 'badvers: another version of SIP',
    section: '3.1.2.16',
    text: compose({ start: 'OPTIONS sip:t.watson@example.org SIP/7.0' }),
    fault: 505,
  },
  {
    name: 'mismatch01: CSeq names another known method',
    section: '3.1.2.17',
    text: compose({ cseq: '8 INVITE' }),
    fault: 400,
  },
  {
    name: 'mismatch02: CSeq names a known method, the request line none',
    section: '3.1.2.18',
    text: compose({ start: 'NEWMETHOD sip:user@example.com SIP/2.0', cseq: '8 INVITE' }),
    fault: 400,
  },
  {
    name: 'bigcode: a status code of ten digits',
    section: '3.1.2.19',
    text: compose({
      start: 'SIP/2.0 4294967301 better not break the receiver',
      cseq: '353 INVITE',
    }),
    fault: 400,
  },
  {
    name: 'insuf: From, To and Call-ID are missing',
    section: '3.3.1',
    text: 'INVITE sip:user@example.com SIP/2.0\nCSeq: 193942 INVITE\nVia: SIP/2.0/UDP 192.0.2.95;branch=z9hG4bKkdj.insuf\n\n',
    fault: 400,
  },
  {
    name: 'multi01: fields that may stand once stand twice',
    section: '3.3.8',
    text: compose({ extra: ['CSeq: 59 OPTIONS', 'From: <sip:user@example.com>;tag=3413415'] }),
    fault: 400,
  },
  {
    name: 'mcl01: two Content-Lengths',
    section: '3.3.9',
    text: compose({ extra: ['Content-Length: 5'], body: sdp }),
    fault: 400,
  },
]

export const tortureMessages: readonly TortureMessage[] = [
  ...valid,
  ...understood,
  ...invalid,
  ...ipv6Messages,
]

/** The message as a datagram contains it. */
export const tortureBytes = ({ text }: TortureMessage): Buffer =>
  Buffer.from(text.replaceAll('\n', '\r\n'), 'utf8')
