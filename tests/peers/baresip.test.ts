// Runs beside others: it waits for most of its 80 s.
import assert from 'node:assert/strict'
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { goertzelPower } from '../../src/audio/goertzel.ts'
import { readWav, writeWav } from '../../src/audio/wav.ts'
import { terminalStates } from '../support/api-client.ts'
import { freeUdpPort } from '../support/free-port.ts'
import { createInstallation, startOutdial } from '../support/outdial-process.ts'
import { liveSettings, openLiveTenant } from '../support/live-tenant.ts'
import { missingPeer } from '../support/peers.ts'
import { until } from '../support/until.ts'

const run = promisify(execFile)
const number = '+12025550142'
const toneHz = 440
const sampleRateHz = 8000

/** Five seconds of silence, so that the agent can greet, then a second of tone, repeated. */
const toneInPauses = (seconds: number): Int16Array =>
  Int16Array.from({ length: seconds * sampleRateHz }, (_, index) =>
    (index / sampleRateHz) % 6 < 5
      ? 0
      : Math.round(9000 * Math.sin((2 * Math.PI * toneHz * index) / sampleRateHz)),
  )

const modulesFolder = async (): Promise<string> => {
  const { stdout } = await run('dpkg', ['-L', 'baresip-core']).catch(() => ({ stdout: '' }))
  const module = stdout.split('\n').find((line) => line.endsWith('/g711.so'))
  return module ? join(module, '..') : '/usr/lib/baresip/modules'
}

/** A soft phone that answers, plays a WAV file and records what it hears. */
const startBaresip = async (
  folder: string,
  encryption: string | undefined,
): Promise<{ child: ChildProcess; port: number }> => {
  const port = await freeUdpPort()
  await mkdir(join(folder, 'rec'), { recursive: true })
  await writeFile(join(folder, 'tone.wav'), writeWav(toneInPauses(60), sampleRateHz))
  await writeFile(
    join(folder, 'accounts'),
    `<sip:${number}@127.0.0.1:${port}>;regint=0;answermode=auto;audio_codecs=PCMU/8000/1,PCMA/8000/1${encryption ? `;mediaenc=${encryption}` : ''}\n`,
  )
  const settings = {
    poll_method: 'epoll',
    sip_listen: `127.0.0.1:${port}`,
    audio_player: `aufile,${join(folder, 'rec/player.wav')}`,
    audio_source: `aufile,${join(folder, 'tone.wav')}`,
    audio_alert: 'aufile,/dev/null',
    ausrc_srate: '8000',
    auplay_srate: '8000',
    ausrc_channels: '1',
    auplay_channels: '1',
    rtp_ports: '20100-20300',
    rtcp_mux: 'no',
    jitter_buffer_delay: '1-4',
    snd_path: join(folder, 'rec'),
    module_path: await modulesFolder(),
  }
  const modules = ['g711', 'aufile', 'sndfile', ...(encryption ? ['srtp'] : [])].map(
    (name) => `module ${name}.so`,
  )
  const temporary = ['uuid', 'account'].map((name) => `module_tmp ${name}.so`)
  await writeFile(
    join(folder, 'config'),
    [
      ...Object.entries(settings).map(([name, value]) => `${name} ${value}`),
      ...modules,
      ...temporary,
      'module_app menu.so',
      '',
    ].join('\n'),
  )
  const child = spawn('baresip', ['-f', folder], { stdio: ['pipe', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  await until('baresip to be ready', () => {
    if (child.exitCode !== null) throw new Error(`baresip ended:\n${output}`)
    return /baresip is ready/.test(output) ? true : undefined
  })
  return { child, port }
}

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
  { what: 'a call over a trunk', encryption: undefined, parameters: '' },
  { what: 'only a call with SRTP', encryption: 'srtp-mand', parameters: ';srtp=required' },
] as const

for (const { what, encryption, parameters } of variants) {
  test(`baresip answers ${what}: it hears our speech, we record its tone`, async (t) => {
    const reason = missingPeer('baresip') ?? missingPeer('ffmpeg')
    if (reason) return t.skip(reason)
    const installation = await createInstallation()
    const phone = await startBaresip(join(installation.data, 'baresip'), encryption)
    const env = {
      ...installation.env,
      ...liveSettings(`sip:127.0.0.1:${phone.port}${parameters}`),
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
        purestShare(heard.samples, toneHz) < 0.9,
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
      const share = purestShare(ours.samples, toneHz)
      assert.ok(share > 0.9, `share of ${toneHz} Hz in our recording: ${share}`)
    } finally {
      await outdial.stop()
      phone.child.kill()
      if (phone.child.exitCode === null) await once(phone.child, 'exit')
      installation.remove()
    }
  })
}
