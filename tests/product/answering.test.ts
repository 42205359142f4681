// Runs beside few others: it waits for most of its 42 s.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { liveSettings, openLiveTenant } from '../support/live-tenant.ts'
import { createSynthesizer } from '../../src/audio/flite.ts'
import { pureFrequency } from '../../src/audio/goertzel.ts'
import { energyOf } from '../../src/audio/level.ts'
import { terminalStates, type ApiClient } from '../support/api-client.ts'
import { decodeStereo } from '../support/ffmpeg.ts'
import {
  askOutdial,
  createInstallation,
  startOutdial,
  type OutdialProcess,
} from '../support/outdial-process.ts'
import { missingPeer } from '../support/peers.ts'
import { startSandboxCarrier } from '../support/sandbox-carrier-process.ts'
import { until } from '../support/until.ts'

/**
 * The answering parties and their results: the program as started by hand, against its own sandbox carrier with a
 * journal. The calls are placed at once and run side by side.
 */

type Resource = Readonly<Record<string, unknown>>

interface Turn {
  readonly speaker: string
  readonly text: string
}

const message =
  'This is Riverside Dental about your appointment. Please call us back at your convenience, on any working day.'

const agentFile = (changes: object) => ({
  name: 'Riverside Dental',
  greeting: 'Hello, this is Riverside Dental.',
  prompt: 'Purpose: to move your appointment.',
  voicemail: 'hang_up',
  ...changes,
})

const transfersTo = (to: string) =>
  agentFile({
    prompt: 'If asked about what is it about, transfer the call.',
    tools: [{ builtin: 'transfer_call', to }],
  })

const barredTarget = '+12025550140'

/** Each call: its callee and its agent. */
const calls = {
  optOut: { number: '+12025550110', agent: agentFile({}) },
  skipped: { number: '+12025550103', agent: agentFile({}) },
  left: {
    number: '+12025550103',
    agent: agentFile({ voicemail: 'leave_message', voicemail_message: message }),
  },
  transferred: { number: '+12025550120', agent: transfersTo('+12025550100') },
  refused: { number: '+12025550121', agent: transfersTo('+12025550101') },
  barred: { number: '+12025550122', agent: transfersTo(barredTarget) },
  keys: {
    number: '+12025550123',
    agent: agentFile({ prompt: 'If asked about what is it about, press "12#".' }),
  },
} as const

type Name = keyof typeof calls

describe('the answering party', { timeout: 180_000 }, () => {
  let installation: Awaited<ReturnType<typeof createInstallation>>
  let carrier: Awaited<ReturnType<typeof startSandboxCarrier>>
  let outdial: OutdialProcess
  let api: ApiClient
  let org: string
  const folder = mkdtempSync(join(tmpdir(), 'outdial-answering-'))
  const ended = new Map<Name, Promise<Resource>>()

  const createAgent = async (name: string, file: object): Promise<string> => {
    const path = join(folder, `${name}.json`)
    writeFileSync(path, JSON.stringify(file))
    const args = ['agent', 'create', '--org', org, '--file', path]
    return (await askOutdial<{ id: string }>(installation.env, ...args)).id
  }

  const place = (agentId: string, number: string) =>
    api.post('/calls', {
      agent_id: agentId,
      recipient: { external_id: number, name: 'Ada Lovelace', phone_number: number },
    })

  const toItsEnd = (id: string): Promise<Resource> =>
    until(
      `call ${id} to end`,
      async () => {
        const { body } = await api.get(`/calls/${id}`)
        return terminalStates.includes(String(body['status'])) ? (body as Resource) : undefined
      },
      { timeoutMs: 150_000, everyMs: 200 },
    )

  before(async () => {
    carrier = await startSandboxCarrier(join(folder, 'journal.jsonl'))
    installation = await createInstallation(liveSettings(carrier.trunk))
    outdial = await startOutdial(installation.env)
    ;({ org, api } = await openLiveTenant(outdial))
    for (const [name, { number, agent }] of Object.entries(calls)) {
      const agentId = await createAgent(name, agent)
      if (name === 'barred') {
        // After the agent was published: the target is judged again when the call is made.
        await askOutdial(installation.env, 'dnc', 'add', '--org', org, barredTarget)
      }
      const placed = await place(agentId, number)
      assert.equal(placed.status, 202, JSON.stringify(placed.body))
      ended.set(name as Name, toItsEnd(String(placed.body['id'])))
    }
  })

  after(async () => {
    await outdial.stop()
    await carrier.stop()
    installation.remove()
    rmSync(folder, { recursive: true })
  })

  const endOf = (name: Name): Promise<Resource> => ended.get(name) ?? assert.fail(name)
  const outcomeOf = (name: Name): Promise<unknown> =>
    endOf(name).then(({ status, answer_status, outcome }) => [status, answer_status, outcome])

  const turnsOf = async ({ id }: Resource): Promise<Turn[]> => {
    const transcript = await until('the transcript', async () => {
      const { body } = await api.get(`/calls/${String(id)}/transcript`)
      return body['status'] === 'processing' ? undefined : (body as Resource)
    })
    return transcript['turns'] as Turn[]
  }

  const journalOf = ({ id }: Resource, event: string): (string | undefined)[] =>
    carrier
      .journal()
      .filter((line) => line.call_id === id && line.event === event)
      .map(({ detail }) => detail)

  it('asks never to be called again, is barred at that moment, and is not called again', async () => {
    assert.deepEqual(await outcomeOf('optOut'), ['completed', 'answered', 'opted_out'])
    const again = await place(await createAgent('again', agentFile({})), '+12025550110')
    assert.equal(again.status, 409)
    assert.equal(
      (again.body['error'] as unknown as Resource)['code'],
      'recipient_blocked_by_policy',
    )
    const barred = await askOutdial<{ phone_number: string; origin: string }[]>(
      installation.env,
      ...`dnc list --org ${org}`.split(' '),
    )
    assert.deepEqual(
      barred.map(({ phone_number, origin }) => [phone_number, origin]),
      [
        ['+12025550110', 'opt_out'],
        [barredTarget, 'operator'],
      ],
    )
  })

  it('is a voicemail, and is hung up on if no message is wanted', async () => {
    assert.deepEqual(await outcomeOf('skipped'), ['completed', 'voicemail', 'voicemail_skipped'])
  })

  it('is a voicemail, which gets the whole message after its beep', async (test) => {
    assert.deepEqual(await outcomeOf('left'), ['completed', 'voicemail', 'voicemail_left'])
    const call = await endOf('left')
    const turns = await turnsOf(call)
    assert.deepEqual(turns.at(-1), { ...turns.at(-1), speaker: 'agent', text: message })

    const missing = missingPeer('ffmpeg')
    if (missing) return test.skip(missing)
    const { left, right } = await recordingOf(call)
    const beepEndMs = lastFrameMs(right, isBeep) ?? assert.fail('no beep was recorded')
    const spoken = framesMs(left, isLoud).filter((atMs) => atMs > beepEndMs)
    const [firstMs = 0, lastMs = 0] = [spoken[0], spoken.at(-1)]
    assert.ok(firstMs - beepEndMs < 2_500, `it began ${firstMs - beepEndMs} ms after the beep`)
    assert.ok(Math.abs(lastMs - firstMs - spokenLengthMs(message)) < 400, `${lastMs - firstMs} ms`)
    const rest = left.length / 8 - lastMs
    assert.ok(rest >= 100, `the call ended ${rest} ms after the last word`)
  })

  it('is transferred, and the call ends with that outcome', async () => {
    assert.deepEqual(await outcomeOf('transferred'), ['completed', 'answered', 'transferred'])
    const call = await endOf('transferred')
    const [target = ''] = journalOf(call, 'referred')
    assert.match(target, /^sip:\+12025550100@127\.0\.0\.1/)
    const said = (await turnsOf(call)).filter(({ speaker }) => speaker === 'agent')
    assert.equal(said.at(-1)?.text, 'One moment, please. I will connect you.')
  })

  it('continues the conversation when the transfer fails', async () => {
    const call = await endOf('refused')
    assert.equal(journalOf(call, 'referred').length, 1)
    assert.notEqual(call['outcome'], 'transferred')
    assert.equal(call['status'], 'completed')
    const texts = (await turnsOf(call)).map(({ text }) => text)
    assert.ok(
      texts.some((text) => text.startsWith('I am sorry, nobody can take your call right now.')),
      texts.join(' | '),
    )
  })

  it('is never transferred to a number the organization may not call', async () => {
    await assert.rejects(
      createAgent('premium', transfersTo('sip:01119005550100@trunk')),
      /tools\[0\]\.to: Premium-rate/,
    )
    const call = await endOf('barred')
    assert.deepEqual(journalOf(call, 'referred'), [])
    assert.deepEqual([call['status'], call['answer_status']], ['completed', 'answered'])
    assert.notEqual(call['outcome'], 'transferred')
  })

  it('hears the keys that the agent presses', async () => {
    assert.deepEqual(journalOf(await endOf('keys'), 'pressed'), ['1', '2', '#'])
  })

  const recordingOf = async (call: Resource) => {
    const url = await until('the recording', async () => {
      const query = `contact_id=${String(call['contact_id'])}&include=download_url`
      const { body } = await api.get(`/recordings?${query}`)
      const recordings = body['data'] as unknown as Resource[]
      return recordings.find(({ call_id }) => call_id === call['id'])?.['download_url']
    })
    const path = join(folder, 'voicemail.mp3')
    const download = await fetch(String(url))
    assert.equal(download.status, 200)
    writeFileSync(path, Buffer.from(await download.arrayBuffer()))
    return decodeStereo(path)
  }
})

const frameSamples = 160

const framesMs = (samples: Int16Array, isWanted: (frame: Int16Array) => boolean): number[] =>
  Array.from({ length: Math.floor(samples.length / frameSamples) }, (_, index) => index)
    .filter((index) => isWanted(samples.subarray(index * frameSamples, (index + 1) * frameSamples)))
    .map((index) => index * 20)

const lastFrameMs = (
  samples: Int16Array,
  isWanted: (frame: Int16Array) => boolean,
): number | undefined => framesMs(samples, isWanted).at(-1)

const isBeep = (frame: Int16Array): boolean => Math.abs((pureFrequency(frame) ?? 0) - 1000) <= 25
const isLoud = (frame: Int16Array): boolean => energyOf(frame) > 300 ** 2

/** From the first loud frame to the last, in the agent's sandbox voice. */
const spokenLengthMs = (text: string): number => {
  const { samples, sampleRateHz } = createSynthesizer().synthesize(text, 'slt')
  const loud = framesMs(
    samples.filter((_, at) => at % (sampleRateHz / 8000) === 0),
    isLoud,
  )
  return (loud.at(-1) ?? 0) - (loud[0] ?? 0)
}
