import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createS3Storage, type S3Settings } from '../../src/storage/s3-storage.ts'
import { testStorage } from '../support/storage/storage-conformance.ts'
import { missingS3Server, startS3Server } from '../support/s3-server.ts'

const missing = missingS3Server()

describe('S3', { skip: missing ?? false }, () => {
  let server: Awaited<ReturnType<typeof startS3Server>>
  before(async () => {
    server = await startS3Server('recordings')
  })
  after(() => server.stop())

  const settings = (changes: Partial<S3Settings> = {}): S3Settings => ({
    bucket: 'recordings',
    region: 'us-east-1',
    endpoint: server.endpoint,
    credentials: server.credentials,
    usesPathStyle: true,
    ...changes,
  })

  testStorage('S3', () => createS3Storage(settings()))
  testStorage('S3 with a prefix', () => createS3Storage(settings({ prefix: 'outdial/eu' })))

  test('two prefixes are separate, and each uses its own keys', async () => {
    const [one, two] = ['one', 'two'].map((prefix) => createS3Storage(settings({ prefix })))
    await one?.put('a', { bytes: Buffer.from('1') })
    assert.equal(await two?.open('a'), undefined)
    assert.equal((await createS3Storage(settings()).open('one/a'))?.size, 1)
  })

  test('a refused key is reported, and not mistaken for a missing object', async () => {
    const credentials = { ...server.credentials, accessKeyId: 'STRANGER' }
    const storage = createS3Storage(settings({ credentials }))
    await assert.rejects(storage.open('a'), ({ $metadata }) => $metadata.httpStatusCode === 403)
    await assert.rejects(storage.put('a', { bytes: Buffer.from('x') }), {
      name: 'InvalidAccessKeyId',
    })
  })

  test('a missing bucket is reported on writing', async () => {
    const storage = createS3Storage(settings({ bucket: 'nothing' }))
    await assert.rejects(storage.put('a', { bytes: Buffer.from('x') }), { name: 'NoSuchBucket' })
  })

  test('a missing server is reported', async () => {
    const storage = createS3Storage(settings({ endpoint: 'http://127.0.0.1:9' }))
    await assert.rejects(storage.open('a'), /ECONNREFUSED/)
  })
})
