import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freeTcpPort } from './free-port.ts'
import { until } from './until.ts'

const program = join(import.meta.dirname, '../../node_modules/s3rver/bin/s3rver.js')

/** Why no S3 server can run here. Under CI, which installs everything, that is a failure. */
export const missingS3Server = (): string | undefined => {
  if (existsSync(program)) return undefined
  const reason = 's3rver is not installed'
  if (process.env['CI']) throw new Error(reason)
  return reason
}

/** The credentials of s3rver: requests signed with others are refused. */
const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' } as const

/** A server of the S3 protocol as its own process, with one bucket. */
export const startS3Server = async (bucket: string) => {
  const folder = mkdtempSync(join(tmpdir(), 'outdial-s3-'))
  const port = await freeTcpPort()
  const options = `-d ${folder} -a 127.0.0.1 -p ${port} -s --configure-bucket ${bucket}`.split(' ')
  const child = spawn(process.execPath, [program, ...options], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let problems = ''
  child.stderr.on('data', (chunk: Buffer) => {
    problems += chunk.toString()
  })
  const endpoint = `http://127.0.0.1:${port}`
  await until('the S3 server to listen', async () => {
    if (child.exitCode !== null) throw new Error(`The S3 server ended: ${problems}`)
    const answer = await fetch(endpoint).catch(() => undefined)
    return answer ? true : undefined
  })
  return {
    endpoint,
    bucket,
    credentials,
    stop: async () => {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
