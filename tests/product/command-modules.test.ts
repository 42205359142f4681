import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createNewInstallation } from '../support/outdial-process.ts'

// A command needs at most 0.4 s of processor time. That figure depends on the machine; its cause, the loaded
// modules, does not. Load times: libphonenumber-js 70 ms, client-s3 100 ms, graphile-worker with cosmiconfig 80 ms.

const { env, data, remove } = await createNewInstallation()
after(remove)

const root = join(import.meta.dirname, '../..')
const organization = '01a2039f-37a4-7339-960d-04efa0a223a3'

/** Packages that only some commands need. */
const heavy = [
  '@aws-sdk/client-s3',
  'bson',
  'graphile-worker',
  'libphonenumber-js',
  'sdp-transform',
  'ws',
]

let runs = 0

/** The modules a command loads until it refuses for lack of an installation: all but those for its result. */
const modulesOf = async (command: string): Promise<string[]> => {
  runs += 1
  const file = join(data, `modules-${runs}`)
  const child = spawn(
    process.execPath,
    [
      '--import',
      join(root, 'tests/support/report-modules.ts'),
      join(root, 'src/main.ts'),
      ...command.split(' '),
    ],
    {
      cwd: data,
      stdio: 'ignore',
      env: { ...env, MODULES_FILE: file },
    },
  )
  await once(child, 'exit')
  return readFileSync(file, 'utf8').split('\n')
}

const packagesOf = (modules: readonly string[]): ReadonlySet<string> =>
  new Set(
    modules.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.slice(1) ?? []),
  )

const commands: readonly (readonly [string, readonly string[]])[] = [
  [`call list --org ${organization}`, []],
  [`call show ${organization}`, []],
  [`org show ${organization}`, []],
  [`key list --org ${organization}`, []],
  [`agent list --org ${organization}`, []],
  [`contact list --org ${organization}`, []],
  [`batch list --org ${organization}`, ['bson']],
  [`run list --org ${organization}`, []],
  [`recording list --org ${organization}`, []],
  [`dnc list --org ${organization}`, []],
]

test('a command that reads loads no package that it does not need', async () => {
  for (const [command, used] of commands) {
    const modules = await modulesOf(command)
    assert.ok(
      modules.some((url) => url.endsWith('/src/database/open-store.ts')),
      command,
    )
    const packages = packagesOf(modules)
    assert.deepEqual(
      heavy.filter((name) => packages.has(name) && !used.includes(name)),
      [],
      command,
    )
  }
})

test('the help and the version load nothing that only the service needs', async () => {
  for (const command of ['--help', '--version', 'start --help', 'doctor --help', 'backup --help']) {
    const modules = await modulesOf(command)
    assert.ok(modules.some((url) => url.endsWith('/src/cli/run-cli.ts')))
    const packages = packagesOf(modules)
    assert.deepEqual(
      [...heavy, 'pg'].filter((name) => packages.has(name)),
      [],
      command,
    )
  }
})
