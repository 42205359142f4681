import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { readConfig } from '../../config/read-config.ts'
import { azure, openAi } from '../../../tests/support/conversation/rows/cloud-rows.ts'
import { speaches } from '../../../tests/support/conversation/rows/own-rows.ts'
import { startRowServer } from '../../../tests/support/conversation/rows/row-server.ts'
import type { ServerRow } from '../../../tests/support/conversation/rows/server-row.ts'
import { tryEngine } from './try-engine.ts'

const findingsOf = async (env: Record<string, string>): Promise<string[]> =>
  (await tryEngine(readConfig(env).engines)).map(({ status, message }) => `${status}: ${message}`)

const withRow = async (
  row: ServerRow,
  env: Record<string, string>,
  work: (findings: string[]) => void,
): Promise<void> => {
  const server = await startRowServer(row)
  const { key, model } = row.settings
  try {
    work(
      await findingsOf({
        OUTDIAL_REALTIME_URL: server.url,
        ...(key !== undefined && { OUTDIAL_REALTIME_KEY: key }),
        ...(model !== undefined && { OUTDIAL_REALTIME_MODEL: model }),
        ...env,
      }),
    )
  } finally {
    server.close()
  }
}

describe('the trial of a realtime server', () => {
  it('says which audio it speaks, and that it takes key, tools and transcription', async () => {
    await withRow(openAi, {}, ([session, words, ...more]) => {
      assert.match(session ?? '', /^ok: 127.0.0.1:\d+ is reachable, takes the key and the tools/)
      assert.match(session ?? '', /G\.711/)
      assert.match(words ?? '', /^ok: /)
      assert.deepEqual(more, [])
    })
    await withRow(speaches, {}, ([session, words]) => {
      assert.match(session ?? '', /PCM at 24 kHz in and 24 kHz out/)
      assert.match(words ?? '', /^ok: /)
    })
  })

  it('names the setting that transcripts need', () =>
    withRow(azure, {}, ([, words]) => {
      assert.match(words ?? '', /^warning: .*set OUTDIAL_REALTIME_TRANSCRIPTION_MODEL/)
    }))

  it('names the setting that it refuses', () =>
    withRow(
      {
        ...openAi,
        update: (session, state) =>
          'reasoning' in session
            ? [{ type: 'error', error: { message: "Unknown parameter: 'session.reasoning'." } }]
            : openAi.update(session, state),
      },
      { OUTDIAL_REALTIME_REASONING_EFFORT: 'low' },
      (findings) => {
        assert.match(findings.at(-1) ?? '', /unset OUTDIAL_REALTIME_REASONING_EFFORT/)
      },
    ))

  it('tells a refused key from a server that is not there', async () => {
    await withRow(openAi, { OUTDIAL_REALTIME_KEY: 'sk-wrong' }, (findings) => {
      assert.equal(findings.length, 1)
      assert.match(
        findings[0] ?? '',
        /^failed: .*refuses the key with 401: set OUTDIAL_REALTIME_KEY/,
      )
      assert.ok(!findings[0]?.includes('sk-wrong'))
    })
    const gone = await startRowServer(openAi)
    const { url } = gone
    gone.close()
    const [found] = await findingsOf({ OUTDIAL_REALTIME_URL: url })
    assert.match(found ?? '', /^failed: .*cannot be reached: check OUTDIAL_REALTIME_URL/)
  })
})

const call = {
  index: 0,
  id: 'c1',
  type: 'function',
  function: { name: 'report_number', arguments: '{"number":7}' },
}

const withHttp = async (
  answer: (request: IncomingMessage, body: string, response: ServerResponse) => void,
  work: (url: string) => Promise<void>,
): Promise<void> => {
  const server = createServer((request, response) => {
    void readText(request).then((body) => answer(request, body, response))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const serversAt = (url: string) => ({
  OUTDIAL_STT_URL: url,
  OUTDIAL_LLM_URL: url,
  OUTDIAL_TTS_URL: url,
})

describe('the trial of the three servers of the cascade', () => {
  it('uses each and says what it can do', () =>
    withHttp(
      ({ url }, body, response) => {
        if (url === '/v1/audio/transcriptions')
          return void response.end(body.includes('RIFF') ? '{"text":""}' : '')
        if (url === '/v1/audio/speech')
          return void response.writeHead(200, { 'content-type': 'audio/pcm' }).end('sound')
        const delta = { role: 'assistant', tool_calls: [call] }
        const event = { id: '1', choices: [{ index: 0, delta, finish_reason: 'tool_calls' }] }
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        return void response.end(`data: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`)
      },
      async (url) => {
        const [stt, llm, tts] = await findingsOf(serversAt(url))
        assert.match(stt ?? '', /^ok: .*transcribes WAV at 16 kHz \(OUTDIAL_STT_URL\)/)
        assert.match(llm ?? '', /^ok: .*calls tools \(OUTDIAL_LLM_URL\)/)
        assert.match(tts ?? '', /^ok: .*speaks \(audio\/pcm\) \(OUTDIAL_TTS_URL\)/)
      },
    ))

  it('names the remedy of each refusal', async () => {
    for (const [status, remedy] of [
      [401, 'set OUTDIAL_STT_KEY to one that it takes'],
      [404, 'check the path of OUTDIAL_STT_URL'],
      [500, 'check OUTDIAL_STT_MODEL'],
    ] as const) {
      await withHttp(
        (_, __, response) => void response.writeHead(status).end('{}'),
        async (url) => {
          const findings = await findingsOf(serversAt(url))
          assert.equal(findings.length, 3)
          assert.ok(findings.every((finding) => finding.startsWith('failed: ')))
          assert.ok(findings[0]?.includes(remedy), findings[0])
          assert.ok(findings[1]?.includes(remedy.replaceAll('STT', 'LLM')), findings[1])
        },
      )
    }
  })

  it('finds nothing to try where no server is set', async () => {
    const [found] = await findingsOf({})
    assert.match(found ?? '', /^ok: No AI server is set/)
  })
})
