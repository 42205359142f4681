// Runs beside others: it waits for most of its 15 s.
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { test, type TestContext } from 'node:test'
import { decodeG711, encodeG711 } from '../../src/audio/g711.ts'
import { goertzelPower } from '../../src/audio/goertzel.ts'
import { openRtpSession } from '../../src/rtp/rtp-session.ts'
import type { RtpSession } from '../../src/rtp/rtp-session-types.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { createMediaNegotiator } from '../../src/sdp/sdp.ts'
import type { SrtpPolicy } from '../../src/sdp/read-sdp.ts'
import { defaultTiming } from '../../src/sip/transaction/transaction-timing.ts'
import { createSipCarrier } from '../../src/telephony/sip-carrier.ts'
import { parseTrunkUri } from '../../src/telephony/trunk-uri.ts'
import { freeUdpPort } from '../support/free-port.ts'
import { missingPeer } from '../support/peers.ts'
import { makeSelfSigned } from '../support/self-signed.ts'
import { startAgent } from '../support/sip/test-agents.ts'
import { until } from '../support/until.ts'
import { missingKamailio, startKamailio } from './kamailio-proxy.ts'
import { startProgram, temporaryFolder } from './peer-program.ts'

const reason = missingKamailio() ?? missingPeer('rtpengine') ?? missingPeer('openssl')
const skip = reason === undefined ? {} : { skip: reason }

const portRange = { min: 20_000, max: 29_998 }
const sampleRateHz = 8000
const frameSamples = 160

/** Media proxy in user space: no module of the kernel. */
const startRtpengine = async (t: TestContext): Promise<{ control: string; output(): string }> => {
  const port = await freeUdpPort()
  const control = `127.0.0.1:${port}`
  const flags = ['--foreground', '--log-stderr', '--log-level=5', '--table=-1', '--num-threads=2']
  const places = ['--interface=127.0.0.1', `--listen-ng=${control}`]
  const ports = ['--port-min=30000', '--port-max=34998']
  const program = startProgram(
    t,
    'rtpengine',
    ['--config-file=none', ...flags, ...places, ...ports],
    temporaryFolder(t, 'rtpengine'),
  )
  const asking = createSocket('udp4')
  let isThere = false
  asking.on('message', () => (isThere = true))
  await until(
    'rtpengine to start',
    () => {
      if (program.child.exitCode !== null) throw new Error(`rtpengine ended: ${program.output()}`)
      asking.send('1 d7:command4:pinge', port, '127.0.0.1')
      return isThere ? true : undefined
    },
    { timeoutMs: 60_000 },
  )
  asking.close()
  return { control, output: program.output }
}

/** Every description of the call goes through rtpengine: `offer` are its flags for the one to the callee. */
const relaying = (control: string, offer: string, answer: string) => ({
  globals: `loadmodule "rtpengine.so"\nmodparam("rtpengine", "rtpengine_sock", "udp:${control}")`,
  routes: `onreply_route[ANSWER] {
  if (has_body("application/sdp")) rtpengine_answer("replace-origin ${answer}");
}`,
  routing: `if (is_method("INVITE") && !has_totag()) {
    rtpengine_offer("replace-origin ${offer}");
    t_on_reply("ANSWER");
  }
  if (is_method("BYE")) rtpengine_delete();`,
})

const variants = [
  { what: 'plain RTP', own: 'off', callee: 'off', offer: '', answer: '' },
  {
    what: 'our SRTP and plain RTP of the callee',
    own: 'required',
    callee: 'off',
    offer: 'RTP/AVP',
    answer: 'RTP/SAVP',
  },
  {
    what: 'our plain RTP and SRTP of the callee',
    own: 'off',
    callee: 'required',
    offer: 'RTP/SAVP DTLS=off',
    answer: 'RTP/AVP',
  },
] as const satisfies readonly {
  what: string
  own: SrtpPolicy
  callee: SrtpPolicy
  offer: string
  answer: string
}[]

for (const { what, own, callee: theirs, offer, answer } of variants)
  test(`rtpengine relays ${what}: both sides hear the other's tone`, skip, async (t) => {
    const engine = await startRtpengine(t)
    const [ours, peer] = await Promise.all([openSide(t, 440), openSide(t, 1200)])
    const callee = await startAgent(t, { timing: defaultTiming })
    callee.onInvite((incoming) => {
      const agreed = createMediaNegotiator({ local: peer.session, srtp: theirs }).answer(
        incoming.offer ?? '',
      )
      if (agreed === undefined) return incoming.reject(488, 'Not Acceptable Here')
      peer.session.connect(agreed.audio)
      return void incoming.accept(agreed.sdp)
    })
    const proxy = await startKamailio(t, {
      certificate: makeSelfSigned(),
      callee: `sip:127.0.0.1:${callee.localPort}`,
      ...relaying(engine.control, offer, answer),
    })
    const userAgent = await startAgent(t, { timing: defaultTiming })
    const srtp = own === 'required' ? ';srtp=required' : ''
    const trunk = parseTrunkUri(`sip:127.0.0.1:${proxy.port}${srtp}`)
    const carrier = createSipCarrier({ userAgent, trunk, logger: silentLogger })
    const outcome = await carrier.dial(
      {
        callId: '0198f000-0000-7000-8000-000000000001',
        to: '+12025550100',
        callerId: '+12025550199',
        ringTimeoutMs: 60_000,
        localMedia: ours.session,
        mayInvite: () => true,
      },
      new AbortController().signal,
    )
    if (outcome.kind !== 'answered')
      assert.fail(`${outcome.failure.reason}\n${proxy.output()}\n${engine.output()}`)
    const { leg } = outcome
    assert.equal(leg.media.srtp !== undefined, own === 'required')
    assert.ok(leg.media.remote.port >= 30_000, 'the audio goes over rtpengine')
    ours.session.connect(leg.media)
    await until(
      'both sides to hear a tone',
      () => (ours.hears(1200) && peer.hears(440) ? true : undefined),
      { timeoutMs: 60_000 },
    )
    await leg.hangUp()
  })

/** One end of the audio: it sends a tone, and listens for the other's. */
const openSide = async (
  t: TestContext,
  frequencyHz: number,
): Promise<{ session: RtpSession; hears(frequencyHz: number): boolean }> => {
  const session = await openRtpSession({ bindAddress: '127.0.0.1', portRange })
  let sent = 0
  let heard: Int16Array = new Int16Array(frameSamples)
  const tick = (): void => {
    heard = decodeG711('pcmu', session.receive())
    session.send(encodeG711('pcmu', toneFrom(sent, frequencyHz)))
    sent += frameSamples
  }
  const ticker = setInterval(tick, 20)
  t.after(async () => {
    clearInterval(ticker)
    await session.close()
  })
  return {
    session,
    hears: (wantedHz) => {
      const energy = heard.reduce((sum, sample) => sum + sample * sample, 0) / frameSamples
      return energy > 1e6 && goertzelPower(heard, wantedHz, sampleRateHz) / energy > 0.8
    },
  }
}

const toneFrom = (start: number, frequencyHz: number): Int16Array =>
  Int16Array.from({ length: frameSamples }, (_, index) =>
    Math.round(8000 * Math.sin((2 * Math.PI * frequencyHz * (start + index)) / sampleRateHz)),
  )
