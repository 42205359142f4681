import { after, afterEach, before } from 'node:test'
import assert from 'node:assert/strict'
import type { Browser, Page } from 'playwright-core'
import { launchThrifty } from './chromium.ts'
import { describePages, openVisitor, type Visitor } from './dashboard.ts'
import { createInstallation, startOutdial, type OutdialProcess } from './outdial-process.ts'
import { missingPeer } from './peers.ts'
import { until } from './until.ts'

/** The account that signs in where a test states no other one. */
export const administrator = {
  name: 'Olivia Owner',
  email: 'olivia@example.com',
  password: 'correct horse battery',
} as const

interface DashboardOptions {
  /**
   * `signed-in`: the administrator of the sandbox organization. `set-up`: by the printed link, the owner of a live
   * organization named Northwind and of the sandbox, which is shown. `none`: nobody was there before.
   */
  readonly account: 'signed-in' | 'set-up' | 'none'
  /** Where the sign-in leads. */
  readonly path?: string
}

/** A service, a Chromium and a first visitor, there from before a file's first test until after its last. */
export interface Dashboard {
  /** Why the file's tests cannot run here. */
  readonly skip: string | false
  readonly origin: string
  readonly browser: Browser
  readonly outdial: OutdialProcess
  /** The data folder of the service. */
  readonly data: string
  readonly visitor: Visitor
  readonly openVisitor: () => Promise<Visitor>
}

interface Opened extends Pick<Dashboard, 'origin' | 'browser' | 'outdial' | 'data' | 'visitor'> {
  readonly visitors: Visitor[]
  readonly remove: () => void
}

/** A build beside other tests may take minutes. */
const builtTimeout = { timeoutMs: 300_000 }

/** Opens the dashboard for the tests of a file. Of a test that fails, the pages that are open then are printed. */
export const openDashboard = (options: DashboardOptions): Dashboard => {
  const skip = missingPeer('chromium') ?? false
  let opened: Opened | undefined
  const here = (): Opened => opened ?? assert.fail('The dashboard is open in tests only.')
  const visit = async (): Promise<Visitor> => {
    const { browser, origin, visitors } = here()
    const visitor = await openVisitor(browser, origin)
    visitors.push(visitor)
    return visitor
  }
  if (!skip) {
    before(async () => {
      opened = await open(options)
      const { visitor, outdial } = opened
      await enter(visitor.page, options, outdial).catch(async (error: unknown) => {
        throw await withPages(error, opened)
      })
    })
    afterEach(async (context) => {
      if ('error' in context && context.error instanceof Error)
        await withPages(context.error.cause, opened)
    })
    after(async () => {
      await opened?.browser.close()
      await opened?.outdial.stop()
      opened?.remove()
    })
  }
  return {
    skip,
    get origin() {
      return here().origin
    },
    get browser() {
      return here().browser
    },
    get outdial() {
      return here().outdial
    },
    get data() {
      return here().data
    },
    get visitor() {
      return here().visitor
    },
    openVisitor: visit,
  }
}

/** An error with what the pages show, which its report prints as part of the stack. */
const withPages = async (error: unknown, opened: Opened | undefined): Promise<unknown> => {
  if (error instanceof Error && opened)
    error.stack = `${error.stack}\n${await describePages(opened.visitors.map(({ context }) => context))}`
  return error
}

const open = async ({ account }: DashboardOptions): Promise<Opened> => {
  const installation = await createInstallation(
    account === 'signed-in'
      ? {
          OUTDIAL_ADMIN_EMAIL: administrator.email,
          OUTDIAL_ADMIN_PASSWORD: administrator.password,
        }
      : {},
  )
  const [outdial, browser] = await Promise.all([startOutdial(installation.env), launchThrifty()])
  const origin = `http://127.0.0.1:${installation.env['OUTDIAL_DASHBOARD_PORT']}`
  await until(
    'the built dashboard',
    async () => (await fetch(origin)).status === 200 || undefined,
    builtTimeout,
  )
  const visitor = await openVisitor(browser, origin)
  const { data, remove } = installation
  return { origin, browser, outdial, data, visitor, visitors: [visitor], remove }
}

const enter = async (
  page: Page,
  { account, path = '/' }: DashboardOptions,
  outdial: OutdialProcess,
): Promise<void> => {
  if (account === 'signed-in') await signIn(page, path)
  if (account === 'set-up') {
    await setUp(page, outdial)
    if (path !== '/') await page.goto(path)
  }
}

/** Signs in on the page that asks for it; the page that it leads to is shown. */
export const signIn = async (page: Page, path = '/', { email, password } = administrator) => {
  await page.goto(`/login?next=${encodeURIComponent(path)}`)
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
}

/** The link that the first start prints. */
export const setupLink = (outdial: OutdialProcess): string =>
  /http:\/\/\S+\/setup#\S+/.exec(outdial.output())?.[0] ?? assert.fail(outdial.output())

/** Makes the first owner; the sandbox organization is shown. */
export const setUp = async (page: Page, outdial: OutdialProcess): Promise<void> => {
  await page.goto(setupLink(outdial))
  await page.getByLabel('Organization').fill('Northwind')
  await page.getByLabel('Your name').fill(administrator.name)
  await page.getByLabel('Email').fill(administrator.email)
  await page.getByLabel('Password').fill(administrator.password)
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByTitle('Calls of this organization go to the sandbox').waitFor()
}

/** Opens another of the account's organizations, and waits until the page shows it. */
export const openOrganization = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('button', { name: /^Organization / }).click()
  await page.getByRole('menuitem', { name: new RegExp(`^${name} ·`) }).click()
  await page.getByRole('button', { name: `Organization ${name}, change` }).waitFor()
}

export const headingOf = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { level: 1, name })
