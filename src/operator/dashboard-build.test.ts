import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { until } from '../../tests/support/until.ts'
import { createLogger } from '../runtime/logger.ts'
import { createDashboardBuild } from './dashboard-build.ts'

const makeBuild = (t: TestContext, program: string) => {
  const folder = mkdtempSync(join(tmpdir(), 'outdial-build-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const dist = join(folder, 'dist')
  const builder = join(folder, 'build.mjs')
  writeFileSync(
    builder,
    `import fs from 'node:fs'\nconst dist = ${JSON.stringify(dist)}\n${program}`,
  )
  const service = createDashboardBuild(createLogger('silent'), { dist, builder })
  t.after(() => service.stop())
  return { dist, folder, service }
}

const bodyOf = async ({ pages }: ReturnType<typeof createDashboardBuild>): Promise<string> =>
  String((await pages.find('/')?.())?.body)

const writePage = `fs.mkdirSync(dist, { recursive: true })
fs.writeFileSync(dist + '/index.html', 'new')`

test('a checkout serves what it has at once, and the new build when it stands', async (t) => {
  const { dist, service } = makeBuild(
    t,
    `while (!fs.existsSync(dist + '/go')) await new Promise((resolve) => setTimeout(resolve, 10))
${writePage}`,
  )
  mkdirSync(dist)
  writeFileSync(join(dist, 'index.html'), 'old')
  await service.start()
  assert.equal(await bodyOf(service), 'old')
  writeFileSync(join(dist, 'go'), '')
  await until('the new page', async () => (await bodyOf(service)) === 'new' || undefined)
})

test('a build that fails is told on the page, and stops nothing', async (t) => {
  const { service } = makeBuild(t, `process.exit(1)`)
  await service.start()
  assert.match(await bodyOf(service), /being built/)
  await until(
    'the reason',
    async () => /could not be built/.test(await bodyOf(service)) || undefined,
  )
})

test('stop ends a build with all that it started', async (t) => {
  const { folder, service } = makeBuild(
    t,
    `import { spawn } from 'node:child_process'
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
fs.writeFileSync(dist + '.pid', String(child.pid))
setInterval(() => {}, 1000)`,
  )
  await service.start()
  const pidFile = join(folder, 'dist.pid')
  const pid = await until(
    'the pid',
    () => Number(existsSync(pidFile) && readFileSync(pidFile, 'utf8')) || undefined,
  )
  await service.stop()
  await until('the end', () => {
    try {
      process.kill(pid, 0)
      return undefined
    } catch {
      return true
    }
  })
})
