// Runs beside others: it waits for most of its 120 s.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { goertzelPower } from '../../src/audio/goertzel.ts'
import { readWav } from '../../src/audio/wav.ts'
import { terminalStates } from '../support/api-client.ts'
import { createInstallation, startOutdial } from '../support/outdial-process.ts'
import { liveSettings, openLiveTenant } from '../support/live-tenant.ts'
import { missingPeer } from '../support/peers.ts'
import { until } from '../support/until.ts'
import { phoneToneHz, startBaresip } from './baresip-phone.ts'

const run = promisify(execFile)
const number = '+12025550142'
const sampleRateHz = 8000

/** Share of the energy at `frequencyHz` in the loudest quarter second of a signal. */
const purestShare = (samples: Int16Array, frequencyHz: number): number => {
  const length = sampleRateHz / 4
  let best = 0
  for (let start = 0; start + length <= samples.length; start += length) {
    const window = samples.subarray(start, start + length)
    const energy = window.reduce((sum, sample) => sum + sample * sample, 0) / length
    if (energy < 200 ** 2) continue
    best = Math.max(best, goertzelPower(window, frequencyHz, sampleRateHz) / energy)
  }
  return best
}

const rms = (samples: Int16Array): number =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length))

const variants = [
  { what: 'a call over a trunk', transport: 'udp', encryption: undefined, parameters: '' },
  {
    what: 'only a call with SRTP, over TLS',
    transport: 'tls',
    encryption: 'srtp-mand',
    parameters: ';srtp=required',
  },
  { what: 'a call over TCP', transport: 'tcp', encryption: undefined, parameters: '' },
] as const

for (const { what, transport, encryption, parameters } of variants) {
  test(`baresip answers ${what}: it hears our speech, we record its tone`, async (t) => {
    const reason = missingPeer('baresip') ?? missingPeer('ffmpeg') ?? missingPeer('openssl')
    if (reason) return t.skip(reason)
    const installation = await createInstallation()
    const phone = await startBaresip(join(installation.data, 'baresip'), { number, encryption })
    const ca = join(installation.data, 'phone.pem')
    await writeFile(ca, phone.certificate)
    const port = transport === 'tls' ? phone.tlsPort : phone.port
    const env = {
      ...installation.env,
      ...liveSettings(`sip:127.0.0.1:${port};transport=${transport}${parameters}`),
      ...(transport === 'tls' && { OUTDIAL_SIP_TLS_CA: ca }),
    }
    const outdial = await startOutdial(env)
    try {
      const { agent, api } = await openLiveTenant(outdial)
      const placed = await api.post('/calls', {
        agent_id: agent,
        recipient: { external_id: 'phone', name: 'A phone', phone_number: number },
      })
      const id = String(placed.body['id'])
      const ended = await until(
        'the call to end',
        async () => {
          const { body } = await api.get(`/calls/${id}`)
          return terminalStates.includes(String(body['status'])) ? body : undefined
        },
        { timeoutMs: 120_000 },
      )
      assert.equal(ended['status'], 'completed', JSON.stringify(ended))
      assert.equal(ended['answer_status'], 'answered', JSON.stringify(ended))

      const heard = await until('the recording of baresip', async () => {
        const name = (await readdir(join(installation.data, 'baresip/rec'))).find((file) =>
          file.endsWith('-dec.wav'),
        )
        return name === undefined
          ? undefined
          : readWav(await readFile(join(installation.data, 'baresip/rec', name)))
      })
      assert.ok(rms(heard.samples) > 300, `baresip heard nothing: ${rms(heard.samples)}`)
      assert.ok(
        purestShare(heard.samples, phoneToneHz) < 0.9,
        'baresip must hear speech, not its own tone',
      )

      const recording = await until('our recording', async () => {
        const { body } = await api.get(`/recordings?include=download_url`)
        return (body['data'] as unknown as Record<string, unknown>[])[0]
      })
      const mp3 = join(installation.data, 'ours.mp3')
      const download = await fetch(String(recording['download_url']))
      await writeFile(mp3, Buffer.from(await download.arrayBuffer()))
      const contactSide = join(installation.data, 'contact.wav')
      const toContactSide = '-af pan=mono|c0=c1 -ar 8000'.split(' ')
      await run('ffmpeg', ['-v', 'error', '-y', '-i', mp3, ...toContactSide, contactSide])
      assert.ok(existsSync(contactSide))
      const ours = readWav(await readFile(contactSide))
      const share = purestShare(ours.samples, phoneToneHz)
      assert.ok(share > 0.9, `share of ${phoneToneHz} Hz in our recording: ${share}`)
    } finally {
      await outdial.stop()
      phone.child.kill()
      if (phone.child.exitCode === null) await once(phone.child, 'exit')
      installation.remove()
    }
  })
}
