import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The judges are packages of their own, with a lock file of their own: `npm ci --ignore-scripts` in this folder. */
const packages = join(import.meta.dirname, 'node_modules')

export const documentFile = join(import.meta.dirname, '../../docs/api/openapi.json')

/** Why a test cannot run here; under CI, which installs the judges, that is a failure. */
export const missingJudges = (): string | undefined => {
  if (existsSync(join(packages, '.package-lock.json'))) return undefined
  const reason = 'the judges are not installed: npm ci --ignore-scripts --prefix tests/judges'
  if (process.env['CI']) throw new Error(reason)
  return reason
}

const programs = {
  redocly: '@redocly/cli/bin/cli.js',
  spectral: '@stoplight/spectral-cli/dist/index.js',
  'openapi-ts': '@hey-api/openapi-ts/bin/run.js',
  prism: '@stoplight/prism-cli/dist/index.js',
} as const

/** Nobody is told that they ran, and nobody is asked whether there is a newer one. */
const env = {
  ...process.env,
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  SCARF_ANALYTICS: 'false',
  DO_NOT_TRACK: '1',
}

const fileOf = (program: keyof typeof programs): string => join(packages, programs[program])

/** Runs a judge to its end. */
export const runJudge = (program: keyof typeof programs, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [fileOf(program), ...args], {
    env,
    encoding: 'utf8',
    timeout: 120_000,
  })
  return { status, output: stdout + stderr }
}

/** Prism between a client and the API: with `--errors` it answers whatever breaks the document with an error of its own. */
export const startPrism = async (upstream: string, port: number) => {
  const args = ['proxy', documentFile, upstream, '--errors', '--port', `${port}`]
  const child = spawn(process.execPath, [fileOf('prism'), ...args], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  await new Promise<void>((resolve, reject) => {
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-10_000)
      if (output.includes('is listening')) resolve()
    })
    void exited.then(() => reject(new Error(`Prism ended early: ${output}`)))
  })
  return {
    url: `http://127.0.0.1:${port}`,
    async stop(): Promise<void> {
      child.kill()
      await exited
    },
  }
}
