import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { writeWav } from '../../src/audio/wav.ts'
import { makeSelfSigned } from '../support/self-signed.ts'
import { freeTcpPort, freeUdpPort } from '../support/free-port.ts'
import { until } from '../support/until.ts'

const run = promisify(execFile)
const sampleRateHz = 8000

/** The tone that the phone plays, after five seconds of silence each. */
export const phoneToneHz = 440

/** Five seconds of silence, so that the agent can greet, then a second of tone, repeated. */
const toneInPauses = (seconds: number): Int16Array =>
  Int16Array.from({ length: seconds * sampleRateHz }, (_, index) =>
    (index / sampleRateHz) % 6 < 5
      ? 0
      : Math.round(9000 * Math.sin((2 * Math.PI * phoneToneHz * index) / sampleRateHz)),
  )

const modulesFolder = async (): Promise<string> => {
  const { stdout } = await run('dpkg', ['-L', 'baresip-core']).catch(() => ({ stdout: '' }))
  const module = stdout.split('\n').find((line) => line.endsWith('/g711.so'))
  return module ? join(module, '..') : '/usr/lib/baresip/modules'
}

export interface Baresip {
  readonly child: ChildProcess
  /** UDP and TCP. */
  readonly port: number
  readonly tlsPort: number
  /** The certificate of its TLS side, PEM. */
  readonly certificate: string
  /** Gives one command of its menu, such as `hold`. */
  command(name: string): Promise<void>
  readonly output: () => string
}

interface BaresipOptions {
  readonly number: string
  /** Its `mediaenc`; by default no encryption. */
  readonly encryption?: string | undefined
}

/** A soft phone that answers, plays a WAV file and records what it hears. */
export const startBaresip = async (
  folder: string,
  { number, encryption }: BaresipOptions,
): Promise<Baresip> => {
  const [port, controlPort] = [await freeUdpPort(), await freeTcpPort()]
  const { cert, key } = makeSelfSigned()
  await mkdir(join(folder, 'rec'), { recursive: true })
  await writeFile(join(folder, 'tone.wav'), writeWav(toneInPauses(60), sampleRateHz))
  await writeFile(join(folder, 'own.pem'), `${key}${cert}`)
  await writeFile(
    join(folder, 'accounts'),
    `<sip:${number}@127.0.0.1:${port}>;regint=0;answermode=auto;audio_codecs=PCMU/8000/1,PCMA/8000/1${encryption ? `;mediaenc=${encryption}` : ''}\n`,
  )
  const settings = {
    poll_method: 'epoll',
    sip_listen: `127.0.0.1:${port}`,
    sip_certificate: join(folder, 'own.pem'),
    ctrl_tcp_listen: `127.0.0.1:${controlPort}`,
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
      'module_app ctrl_tcp.so',
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
  return {
    child,
    port,
    // baresip listens on TLS one port above.
    tlsPort: port + 1,
    certificate: cert,
    command: (name) => command(controlPort, name),
    output: () => output,
  }
}

/** A netstring of JSON to its module ctrl_tcp. */
const command = async (port: number, name: string): Promise<void> => {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const text = JSON.stringify({ command: name })
  socket.write(`${text.length}:${text},`)
  await once(socket, 'data')
  socket.destroy()
}
