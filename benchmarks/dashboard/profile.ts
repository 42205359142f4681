import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContext } from 'playwright-core'
import { launchProfile } from '../../tests/support/chromium.ts'
import type { FilledService } from './filled-service.ts'

/** A browser keeps the compiled form of a program that it has run a few times. */
export const warmUps = 3

/** A browser with a profile of its own, signed in; it is closed, and its profile deleted, after the work. */
export const withProfile = async (
  service: FilledService,
  work: (context: BrowserContext) => Promise<void>,
): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'outdial-profile-'))
  const context = await launchProfile(folder, service.origin)
  try {
    await context.addCookies(await service.context.cookies())
    await work(context)
  } finally {
    await context.close()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
