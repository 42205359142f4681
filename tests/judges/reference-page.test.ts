import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDocumentationPages } from '../../src/http/documentation/documentation-pages.ts'
import { startApiFixture } from '../support/api-fixture.ts'
import { launchThrifty } from '../support/chromium.ts'
import { freeTcpPort } from '../support/free-port.ts'
import { missingPeer } from '../support/peers.ts'

/** Parsing 4 MB of program takes a browser 20 s on a machine that does other work. */
const pageTimeoutMs = 120_000

test('a browser shows an operation on /docs and asks nobody but this server', async (t) => {
  const missing = missingPeer('chromium')
  if (missing) return t.skip(missing)
  const port = await freeTcpPort()
  const url = `http://127.0.0.1:${port}`
  const api = await startApiFixture({ port, pages: createDocumentationPages(() => url) })
  const browser = await launchThrifty()
  try {
    const page = await browser.newPage()
    page.setDefaultTimeout(pageTimeoutMs)
    const asked: string[] = []
    const complaints: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    await page.goto(`${url}/docs`)
    const operation = page.getByRole('heading', { name: 'Place a call' })
    await operation.waitFor()
    // A second load shows what the first one asked for late; the page never falls silent by itself.
    await page.reload()
    await operation.waitFor()
    assert.ok(asked.includes(`${url}/openapi.json`))
    const foreign = asked.filter((target) => !target.startsWith(url) && !target.startsWith('data:'))
    assert.deepEqual(foreign, [])
    assert.deepEqual(complaints, [])
  } finally {
    await browser.close()
    await api.stop()
  }
})

test('the reference serves every name of the installation, and its search knows the concepts', async (t) => {
  const missing = missingPeer('chromium')
  if (missing) return t.skip(missing)
  const port = await freeTcpPort()
  const pages = createDocumentationPages(() => `http://127.0.0.1:${port}`)
  const api = await startApiFixture({ port, pages })
  const browser = await launchThrifty()
  try {
    for (const host of ['localhost', '127.0.0.1']) {
      const page = await browser.newPage()
      page.setDefaultTimeout(pageTimeoutMs)
      await page.goto(`http://${host}:${port}/docs`)
      await page.getByRole('heading', { name: 'Place a call' }).waitFor()
      await page.getByText(`http://${host}:${port}`).first().waitFor()
      for (const concept of ['voicemail', 'calling hours']) {
        await page.keyboard.press('Control+k')
        await page.getByRole('listbox').waitFor({ state: 'attached' })
        await page.keyboard.type(concept)
        const found = page.getByRole('option').filter({ hasText: new RegExp(concept, 'i') })
        await found.first().waitFor()
        await page.keyboard.press('Escape')
      }
      await page.close()
    }
  } finally {
    await browser.close()
    await api.stop()
  }
})
