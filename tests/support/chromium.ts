import { chromium, type Browser, type BrowserContext } from 'playwright-core'
import { yieldChildSessions } from './yield-session.ts'

/**
 * For tests, whose pages live for seconds: about a tenth less processor time. A page that measures is to be compiled as
 * for people.
 */
const thriftyArguments = [
  '--js-flags=--no-opt,--no-sparkplug',
  '--num-raster-threads=1',
  '--renderer-process-limit=1',
  '--disable-site-isolation-trials',
] as const

const executablePath = '/usr/bin/chromium'

/** All its own network requests are turned off. */
const quietArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
] as const

/** The system's Chromium. */
export const launchChromium = (further: readonly string[] = []): Promise<Browser> =>
  chromium.launch({ executablePath, args: [...quietArguments, ...further] })

/** The same for tests beside which calls hold conversations in real time: it yields the processors to them. */
export const launchThrifty = async (): Promise<Browser> => {
  const browser = await launchChromium(thriftyArguments)
  yieldChildSessions()
  return browser
}

/** The same with a profile of its own, as a person's browser has, which keeps what it has compiled. */
export const launchProfile = (folder: string, baseURL: string): Promise<BrowserContext> =>
  chromium.launchPersistentContext(folder, {
    executablePath,
    baseURL,
    args: [...quietArguments],
  })
