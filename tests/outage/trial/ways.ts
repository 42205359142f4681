import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { makeCertificates } from './certificates.ts'
import { createSipAnswers, peerCredentials, type PeerJournal, type Mood } from './sip-answers.ts'
import { openTlsPeer, openUdpPeer } from './trunk-peers.ts'

/** A trunk that can go away in one way, and come back. */
export interface OutagePeer {
  /** The value of OUTDIAL_SIP_TRUNK. */
  readonly uri: string
  readonly settings: Readonly<Record<string, string>>
  readonly journal: PeerJournal
  leave(): Promise<void> | void
  comeBack(): Promise<void> | void
  close(): Promise<void>
}

export interface Way {
  readonly name: string
  /** `folder`: for files of its own. */
  open(folder: string): Promise<OutagePeer>
  /** It is away when the service starts, because a name that was found once stays known for ten minutes. */
  readonly startsAway?: true
  /** What shows that the trunk is back: a response to OPTIONS, or a call. */
  readonly probedBy: 'OPTIONS' | 'INVITE'
  /** What `call explain` and the doctor write of it. */
  readonly waitCode: 'trunk_down' | 'carrier_congestion'
  readonly reason: RegExp
  /** Calls whose INVITE left right before, which may have rung a phone, so that they end `failed` (D3). */
  readonly mayLoseCalls?: true
}

type MoodyWay = Omit<Way, 'open'> & { readonly mood: Mood; readonly asksPassword?: true }

const uriOf = (port: number, user = ''): string => `sip:${user}127.0.0.1:${port}`

/** Goes away by what it responds. */
const moody = ({ mood, asksPassword, ...way }: MoodyWay): Way => ({
  ...way,
  open: async () => {
    const answers = createSipAnswers(asksPassword === true)
    const { port, close } = await openUdpPeer(answers)
    const user = asksPassword ? `${peerCredentials.username}:${peerCredentials.password}@` : ''
    return {
      uri: uriOf(port, user),
      settings: {},
      journal: answers,
      leave: () => void (answers.mood = mood),
      comeBack: () => void (answers.mood = 'works'),
      close,
    }
  },
})

const refused: Way = {
  name: 'refused',
  probedBy: 'OPTIONS',
  waitCode: 'trunk_down',
  reason: /refused/i,
  mayLoseCalls: true,
  open: async () => {
    const answers = createSipAnswers(false)
    const peer = await openUdpPeer(answers)
    return {
      uri: uriOf(peer.port),
      settings: {},
      journal: answers,
      // What is read after this had been delivered before.
      leave: async () => {
        answers.mood = 'silent'
        await peer.refuse()
      },
      comeBack: () => {
        peer.accept()
        answers.mood = 'works'
      },
      close: peer.close,
    }
  },
}

const nameless: Way = {
  name: 'dns',
  startsAway: true,
  probedBy: 'OPTIONS',
  waitCode: 'trunk_down',
  reason: /no address/,
  open: async (folder) => {
    const answers = createSipAnswers(false)
    const peer = await openUdpPeer(answers)
    const names = join(folder, 'names')
    const write = (text: string): void => writeFileSync(names, text)
    write('')
    const preload = pathToFileURL(join(import.meta.dirname, 'names-from-file.mjs')).href
    return {
      uri: `sip:carrier.outage.test:${peer.port}`,
      settings: { NODE_OPTIONS: `--import=${preload}`, OUTAGE_NAMES: names },
      journal: answers,
      leave: () => write(''),
      comeBack: () => write('127.0.0.1 carrier.outage.test\n'),
      close: peer.close,
    }
  },
}

const expired: Way = {
  name: 'certificate',
  probedBy: 'OPTIONS',
  waitCode: 'trunk_down',
  reason: /certificate has expired/,
  mayLoseCalls: true,
  open: async (folder) => {
    const answers = createSipAnswers(false)
    const certificates = makeCertificates(folder)
    const peer = await openTlsPeer(answers, certificates)
    return {
      uri: `${uriOf(peer.port)};transport=tls`,
      settings: { OUTDIAL_SIP_TLS_CA: certificates.authorityFile },
      journal: answers,
      leave: () => {
        answers.mood = 'silent'
        peer.show('expired')
      },
      comeBack: () => {
        answers.mood = 'works'
        peer.show('valid')
      },
      close: peer.close,
    }
  },
}

export const ways: readonly Way[] = [
  refused,
  moody({
    name: 'silent',
    mood: 'silent',
    probedBy: 'OPTIONS',
    waitCode: 'trunk_down',
    reason: /not answer|could not be reached/,
    mayLoseCalls: true,
  }),
  nameless,
  expired,
  moody({
    name: 'password',
    mood: 'other_password',
    asksPassword: true,
    probedBy: 'INVITE',
    waitCode: 'trunk_down',
    reason: /credentials/,
  }),
  moody({
    name: '503',
    mood: 'unavailable',
    probedBy: 'INVITE',
    waitCode: 'carrier_congestion',
    reason: /503/,
  }),
]
