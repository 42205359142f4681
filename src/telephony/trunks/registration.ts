import { systemTime, type Time } from '../../runtime/time.ts'
import type { DigestPolicy } from '../../sip/digest/digest-policy.ts'
import { parseDelaySeconds, parseNameAddress } from '../../sip/message/headers.ts'
import { headerOf, headersOf, type SipResponse } from '../../sip/message/message.ts'
import { newTag, reasonPhrases } from '../../sip/message/responses.ts'
import type { UserAgent } from '../../sip/user-agent/user-agent-types.ts'

interface RegistrationSettings {
  /** `sip:host` of the registrar. */
  readonly registrar: string
  /** The address of record, such as `sip:user@domain`. */
  readonly address: string
  readonly outboundProxy?: string | undefined
  readonly credentials: { readonly username: string; readonly password: string }
  readonly digestPolicy: DigestPolicy
  /** Asked for; the registrar decides. */
  readonly expiresSeconds: number
  /** UUID of this process: the registrar tells several of one account apart by it (RFC 5626 4.1). */
  readonly instance: string
}

export interface RegistrationState {
  readonly state: 'registering' | 'registered' | 'failed'
  /** One sentence, of the last failure. */
  readonly reason?: string | undefined
  readonly expiresAt?: Date | undefined
}

/** One address of record at one registrar (RFC 3261 10.2). */
export interface Registration {
  start(): void
  /** Registers again at once where our address towards the registrar has changed, as after a reconnect. */
  check(): Promise<void>
  state(): RegistrationState
  /** Where requests go on their way out (RFC 3608): the outbound proxy, and what the registrar asked for. */
  routes(): readonly string[]
  /** Deregisters; resolves within a few seconds. */
  stop(): Promise<void>
}

const requestLimitMs = 10_000
const goodbyeLimitMs = 2_000
/** After a failure it is tried again after this time, doubled up to the maximum. */
const firstRetryMs = 5_000
const maxRetryMs = 300_000
const maxExpiresSeconds = 86_400
const minExpiresSeconds = 30
/** Refusals of the interval in a row: a registrar that never agrees is not asked for ever. */
const maxIntervals = 3
/** Of Service-Route; a longer path is cut by no carrier. */
const maxRoutes = 8

export const createRegistration = (
  userAgent: UserAgent,
  settings: RegistrationSettings,
  { onChange = () => {}, time = systemTime }: { onChange?: () => void; time?: Time } = {},
): Registration => {
  const sipCallId = `${newTag()}${newTag()}`
  const fromTag = newTag()
  let sequence = 1
  let expiresSeconds = settings.expiresSeconds
  let current: RegistrationState = { state: 'registering' }
  let serviceRoutes: readonly string[] = []
  let contact: string | undefined
  let failures = 0
  let isStopped = false
  let running: Promise<void> | undefined
  let cancelTimer: (() => void) | undefined

  const proxy = settings.outboundProxy === undefined ? [] : [settings.outboundProxy]

  const send = (seconds: number, timeoutMs: number) => {
    const { registrar, address, credentials, digestPolicy, instance } = settings
    return userAgent.request({
      method: 'REGISTER',
      uri: registrar,
      routes: proxy,
      from: address,
      to: address,
      fromTag,
      sipCallId,
      sequence,
      contactParameters: `;expires=${seconds};+sip.instance="<urn:uuid:${instance}>"`,
      headers: [
        ['expires', String(seconds)],
        ['supported', 'path'],
      ],
      credentials,
      digestPolicy,
      timeoutMs,
    })
  }

  const become = (next: RegistrationState): void => {
    current = next
    onChange()
  }

  const later = (ms: number): void => {
    cancelTimer?.()
    if (!isStopped) cancelTimer = time.after(ms, () => void register())
  }

  const fail = (reason: string): void => {
    failures += 1
    const delayMs = Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(failures - 1, 10))
    // A registration that still lasts carries calls until it has run out.
    const lasts = current.expiresAt !== undefined && current.expiresAt > time.now()
    become(
      lasts && current.state === 'registered'
        ? { ...current, reason }
        : { state: 'failed', reason },
    )
    const leftMs = lasts ? (current.expiresAt?.getTime() ?? 0) - time.now().getTime() : Infinity
    later(Math.max(1_000, Math.min(delayMs, leftMs)))
  }

  /** What the result means, to be applied when the request is over. */
  const attempt = async (): Promise<() => void> => {
    for (let interval = 1; ; interval += 1) {
      const result = await send(expiresSeconds, requestLimitMs)
      sequence = result.sequence + 1
      if (result.kind === 'unreachable')
        return () => fail(`The registrar could not be reached: ${result.reason}.`)
      const { response } = result
      if (response.status === 423 && interval <= maxIntervals) {
        const least = parseDelaySeconds(headerOf(response, 'min-expires')) ?? 0
        if (least > expiresSeconds && least <= maxExpiresSeconds) {
          expiresSeconds = least
          continue
        }
      }
      if (response.status >= 300) return () => fail(refusalOf(response))
      return () => succeed(response, result.contact)
    }
  }

  const succeed = (response: SipResponse, ours: string): void => {
    failures = 0
    contact = ours
    serviceRoutes = headersOf(response, 'service-route').flatMap(uriIn).slice(0, maxRoutes)
    const seconds = Math.max(minExpiresSeconds, grantedSeconds(response, ours) ?? expiresSeconds)
    become({ state: 'registered', expiresAt: new Date(time.now().getTime() + seconds * 1000) })
    later((seconds * 1000) / 2)
  }

  const register = (): Promise<void> =>
    (running ??= attempt().then((settle) => {
      // First, because what settles may begin the next one.
      running = undefined
      settle()
    }))

  return {
    start: () => void register(),
    check: async () => {
      if (isStopped || current.state !== 'registered') return
      const now = await userAgent.contactFor(proxy[0] ?? settings.registrar).catch(() => undefined)
      if (now !== undefined && contact !== undefined && now !== contact) await register()
    },
    state: () => {
      const { expiresAt } = current
      const isOver =
        current.state === 'registered' && expiresAt !== undefined && expiresAt <= time.now()
      return isOver
        ? { state: 'failed', reason: current.reason ?? 'The registration ran out.' }
        : current
    },
    routes: () => (serviceRoutes.length > 0 ? [...proxy, ...serviceRoutes] : proxy),
    stop: async () => {
      if (isStopped) return
      isStopped = true
      cancelTimer?.()
      await running
      if (current.state === 'registered') await send(0, goodbyeLimitMs)
    },
  }
}

const uriIn = (value: string): string[] => {
  const uri = parseNameAddress(value)?.uri
  return uri === undefined ? [] : [uri]
}

/** Of our own Contact, else of the whole response (RFC 3261 10.2.4). */
const grantedSeconds = (response: SipResponse, contact: string): number | undefined => {
  const ours = parseNameAddress(contact)?.uri
  const contacts = headersOf(response, 'contact').flatMap((value) => parseNameAddress(value) ?? [])
  const own =
    contacts.find(({ uri }) => uri === ours) ?? (contacts.length === 1 ? contacts[0] : undefined)
  const written = own?.parameters.get('expires') ?? headerOf(response, 'expires')
  const seconds = parseDelaySeconds(written)
  return seconds === undefined || seconds === 0 ? undefined : seconds
}

const refusalOf = ({ status }: SipResponse): string => {
  const phrase = reasonPhrases[status]
  const remedy =
    status === 401 || status === 407 || status === 403
      ? ': check user, password and realm of the trunk'
      : ''
  return `The registrar refused us with SIP ${status}${phrase === undefined ? '' : ` ${phrase}`}${remedy}.`
}
