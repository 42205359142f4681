import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgreedAudio } from '../sdp/sdp.ts'
import { resolveMedia } from './resolve-media.ts'

const audioAt = (address: string): AgreedAudio => ({
  remote: { address, port: 4000 },
  codec: 'pcmu',
  payloadType: 0,
  direction: 'sendrecv',
})
const found = async (): Promise<string> => '192.0.2.7'

test('an address needs no name server', () => {
  assert.equal(resolveMedia(audioAt('192.0.2.1'), found), undefined)
  assert.equal(resolveMedia(audioAt('2001:db8::1'), found), undefined)
})

test('a name becomes its address', async () => {
  assert.deepEqual((await resolveMedia(audioAt('media.example.com'), found))?.remote, {
    address: '192.0.2.7',
    port: 4000,
  })
})

test('a name without an address stays, and what is no name is never looked up', async () => {
  const audio = audioAt('media.example.com')
  assert.equal(await resolveMedia(audio, () => Promise.reject(new Error('ENOTFOUND'))), audio)
  for (const text of ['a b', '-x', 'x'.repeat(300), '../etc', 'a..b', '']) {
    const asked = audioAt(text)
    assert.equal(await resolveMedia(asked, () => assert.fail(`asked for ${text}`)), asked)
  }
})
