import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { openCallAudio, type CallAudio } from './call-audio.ts'
import {
  branchOf,
  composeResponse,
  composeSip,
  headerOf,
  parseSip,
  tagOf,
  uriOf,
  type ResponseParts,
  type SipText,
} from './sip-text.ts'
import type { UdpPeer } from './udp-peer.ts'

/** One call at the trunk: the server's side of its INVITE, then of its dialog. */
export interface TrunkCall {
  readonly number: string
  readonly sipCallId: string
  /** Each INVITE that began a transaction; a second one carries credentials. */
  readonly invites: readonly SipText[]
  /** Requests within the dialog: ACK, BYE, CANCEL, REFER, … */
  readonly requests: readonly SipText[]
  readonly localTag: string
  readonly remoteTag: string
  /** The Contact of the product. */
  readonly remoteTarget: string
  readonly audio: CallAudio | undefined
  /** Either side ended it. */
  readonly isOver: boolean
  readonly over: Promise<void>
  /** A response to the latest INVITE. */
  respond(status: string, parts?: Omit<ResponseParts, 'toTag'>): Promise<void>
  /** 200 with SDP, repeated until the ACK; audio flows from then on unless `isMute`. */
  answer(options?: AnswerOptions): Promise<void>
  /** A request within the dialog, repeated until a final response or until time is out. */
  request(method: string, options?: RequestOptions): Promise<SipText | undefined>
  /** The text of a request within the dialog, as a sender who knows the dialog could write it. */
  compose(method: string, sequence: number, via: string): string
  receiveInvite(message: SipText): boolean
  receiveRequest(message: SipText, from: { port: number; address: string }): Promise<void>
  receiveResponse(message: SipText): void
  close(): void
}

export interface AnswerOptions {
  readonly contact?: string
  readonly headers?: readonly (readonly [string, string])[]
  readonly isMute?: boolean
}

export interface RequestOptions {
  readonly body?: string
  readonly headers?: readonly (readonly [string, string])[]
  readonly timeoutMs?: number
}

const repeatMs = 500
const maxRepeats = 40
const defaultTimeoutMs = 10_000

export const createTrunkCall = (first: SipText, peer: UdpPeer): TrunkCall => {
  const invites: SipText[] = []
  const requests: SipText[] = []
  const localTag = randomBytes(6).toString('hex')
  const over = Promise.withResolvers<void>()
  const answers = new Map<string, (response: SipText) => void>()
  let audio: CallAudio | undefined
  let isOver = false
  let isAcknowledged = false
  let sequence = 1
  let lastResponse = ''
  const contact = `<sip:${peer.address}:${peer.port}>`

  const latest = (): SipText => invites.at(-1) ?? first
  const remoteTarget = (): string => uriOf(headerOf(latest(), 'contact'))
  const remote = (): { address: string; port: number } => {
    const [, address = '', port = '5060'] = /@?([\d.]+)(?::(\d+))?[^@]*$/.exec(remoteTarget()) ?? []
    return { address, port: Number(port) }
  }
  const send = (text: string): Promise<void> => {
    const { address, port } = remote()
    return peer.send(text, port, address)
  }

  const end = (): void => {
    isOver = true
    audio?.close()
    over.resolve()
  }

  const respond: TrunkCall['respond'] = async (status, parts = {}) => {
    const isFailure = Number(status.slice(0, 3)) >= 300
    lastResponse = composeResponse(latest(), status, { toTag: localTag, ...parts })
    await send(lastResponse)
    if (isFailure && !/^40[17]/.test(status)) end()
  }

  const compose: TrunkCall['compose'] = (method, number, via) =>
    composeSip(`${method} ${remoteTarget()} SIP/2.0`, [
      ['Via', via],
      ['Max-Forwards', '70'],
      ['From', `${headerOf(latest(), 'to')};tag=${localTag}`],
      ['To', headerOf(latest(), 'from')],
      ['Call-ID', headerOf(first, 'call-id')],
      ['CSeq', `${number} ${method}`],
      ['Contact', contact],
    ])

  return {
    number: /^INVITE sips?:([^@;]*)/.exec(first.start)?.[1] ?? '',
    sipCallId: headerOf(first, 'call-id'),
    invites,
    requests,
    localTag,
    get remoteTag() {
      return tagOf(headerOf(first, 'from'))
    },
    get remoteTarget() {
      return remoteTarget()
    },
    get audio() {
      return audio
    },
    get isOver() {
      return isOver
    },
    over: over.promise,
    respond,
    compose,
    async answer({ contact: other, headers = [], isMute = false } = {}) {
      audio ??= await openCallAudio(peer.address, latest().body)
      const body = audio.description
      const parts = [
        ['Contact', other ?? contact],
        ['Content-Type', 'application/sdp'],
        ...headers,
      ] as const
      await respond('200 OK', { headers: parts, body })
      if (!isMute) audio.start()
      for (let repeat = 0; repeat < maxRepeats && !isAcknowledged && !isOver; repeat += 1) {
        await delay(repeatMs)
        if (!isAcknowledged && !isOver) await send(lastResponse)
      }
    },
    async request(method, { body = '', headers = [], timeoutMs = defaultTimeoutMs } = {}) {
      const branch = `z9hG4bK${randomBytes(8).toString('hex')}`
      const via = `SIP/2.0/UDP ${peer.address}:${peer.port};branch=${branch}`
      const plain = parseSip(compose(method, (sequence += 1), via))
      if (!plain) throw new Error('The harness wrote a request it cannot read.')
      const kept = plain.headers.filter(([name]) => name !== 'content-length')
      const text = composeSip(plain.start, [...kept, ...headers], body)
      const answered = new Promise<SipText>((resolve) => answers.set(branch, resolve))
      const deadline = performance.now() + timeoutMs
      for (let wait = repeatMs; performance.now() < deadline; wait = Math.min(wait * 2, 4_000)) {
        await send(text)
        const left = Math.max(1, Math.min(wait, deadline - performance.now()))
        const response = await Promise.race([answered, delay(left)])
        if (!response) continue
        if (method === 'BYE') end()
        return response
      }
      return undefined
    },
    receiveInvite(message) {
      if (invites.some((invite) => branchOf(invite) === branchOf(message))) {
        if (lastResponse !== '') void send(lastResponse)
        return false
      }
      invites.push(message)
      return true
    },
    async receiveRequest(message, from) {
      requests.push(message)
      if (message.method === 'ACK') {
        isAcknowledged = true
        return
      }
      const status = message.method === 'REFER' ? '603 Decline' : '200 OK'
      await peer.send(composeResponse(message, status, {}), from.port, from.address)
      if (message.method === 'CANCEL') await respond('487 Request Terminated')
      if (message.method === 'BYE') end()
    },
    receiveResponse(message) {
      if ((message.status ?? 0) >= 200) answers.get(branchOf(message))?.(message)
    },
    close: end,
  }
}
