import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, it } from 'node:test'
import { createChatModel } from './chat-model.ts'
import type { ProviderError } from './provider-error.ts'
import { createProviderFetch } from './provider-fetch.ts'
import { json, withServer } from '../../../../tests/support/conversation/scripted-server.ts'

const request = createProviderFetch(false)
const { signal } = new AbortController()

const streams =
  (...pieces: readonly (string | Buffer)[]) =>
  (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const piece of pieces) response.write(piece)
    response.end()
  }

const chunk = (delta: object, finish?: string): string =>
  `data: ${JSON.stringify({ id: '1', choices: [{ index: 0, delta, finish_reason: finish ?? null }] })}\n\n`

describe('the chat model', () => {
  const answerOf = async (url: string) => {
    const parts: unknown[] = []
    const messages = [{ role: 'user', content: 'My secret words.' }] as const
    for await (const part of createChatModel({ url, key: 'sk-1' }, 'Be kind.', [], request).reply(
      messages,
      signal,
    ))
      parts.push(part)
    return parts
  }

  it('fails with the status, and without the words or the request', () =>
    withServer([json({ error: { message: 'My secret words.' } }, 503)], async (url, received) => {
      const error = await answerOf(url).then(
        () => assert.fail('it did not fail'),
        (reason: unknown) => reason as Error & { status: number },
      )
      assert.equal(error.status, 503)
      assert.ok(
        !`${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`.includes('secret'),
      )
      assert.equal(received.length, 1)
      assert.equal(received[0]?.headers.authorization, 'Bearer sk-1')
    }))

  it('reports when the server wants the next request', async () => {
    const inTwoMinutes = new Date(Date.now() + 120_000).toUTCString()
    for (const [header, leastMs, mostMs] of [
      ['7', 7_000, 7_000],
      [inTwoMinutes, 1, 120_000],
      ['soon', undefined, undefined],
    ] as const) {
      const busy = (response: ServerResponse): void =>
        void response.writeHead(429, { 'retry-after': header }).end('{}')
      await withServer([busy], async (url) => {
        const { retryAfterMs } = await answerOf(url).then(
          () => assert.fail('it did not fail'),
          (reason: unknown) => reason as ProviderError,
        )
        if (leastMs === undefined) return assert.equal(retryAfterMs, undefined)
        assert.ok(retryAfterMs !== undefined)
        assert.ok(retryAfterMs >= leastMs && retryAfterMs <= mostMs)
      })
    }
  })

  const stringOf = async (url: string): Promise<string> =>
    (await answerOf(url)).map((part) => (part as { text?: string }).text ?? '').join('')

  it('is understood when a stream gives no reason to stop, with [DONE] or without', () =>
    withServer(
      [
        streams(chunk({ content: 'One.' }), 'data: [DONE]\n\n'),
        streams(chunk({ content: 'Two.' })),
        streams(': ping\r\n\r\n', 'data:{"choices":[{"index":0,"delta":{"content":"Three."}}]}'),
      ],
      async (url) => {
        for (const words of ['One.', 'Two.', 'Three.']) assert.equal(await stringOf(url), words)
      },
    ))

  it('is understood in pieces of a few bytes', () => {
    const whole = Buffer.from(`${chunk({ content: 'Grüße aus Köln.' })}data: [DONE]\n\n`)
    const pieces = Array.from({ length: Math.ceil(whole.length / 3) }, (_, i) =>
      whole.subarray(3 * i, 3 * i + 3),
    )
    return withServer([streams(...pieces)], async (url) =>
      assert.equal(await stringOf(url), 'Grüße aus Köln.'),
    )
  })

  it('is understood as one document, with its tools', () => {
    const call = { id: 'c', type: 'function', function: { name: 'end_call', arguments: '{}' } }
    const answerWith = (message: object) => json({ choices: [{ message }], usage: null })
    return withServer(
      [answerWith({ content: 'Whole.' }), answerWith({ content: null, tool_calls: [call] })],
      async (url) => {
        assert.equal(await stringOf(url), 'Whole.')
        const [part] = await answerOf(url)
        assert.deepEqual(part, { type: 'tool_call', id: 'c', name: 'end_call', arguments: {} })
      },
    )
  })

  it('never speaks the model’s thoughts', () =>
    withServer(
      [
        streams(
          chunk({ role: 'assistant', reasoning_content: 'Hidden.' }),
          chunk({ content: '<thi' }),
          chunk({ content: 'nk>Hidden' }),
          chunk({ content: ' too.</think>Good ' }),
          chunk({ content: 'morning.' }, 'stop'),
        ),
      ],
      async (url) => assert.equal(await stringOf(url), 'Good morning.'),
    ))

  it('is a temporary failure when nothing came, or when the stream broke off', () =>
    withServer(
      [
        streams('data: [DONE]\n\n'),
        (response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' })
          response.write(chunk({ content: 'I begin and' }), () => response.destroy())
        },
      ],
      async (url) => {
        for (let i = 0; i < 2; i += 1)
          await assert.rejects(answerOf(url), (error: Error & { status?: number }) => {
            assert.equal(error.name, 'ProviderError')
            assert.equal(error.status, undefined)
            assert.equal(error.cause, undefined)
            return true
          })
      },
    ))

  it('reports the error in a document', () =>
    withServer([json({ error: { message: 'overloaded', code: 500 } })], (url) =>
      assert.rejects(answerOf(url), { name: 'ProviderError' }),
    ))
})
