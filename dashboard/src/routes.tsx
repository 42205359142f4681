import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { fetchProgram } from './client/fetch-program.ts'
import { NotFound } from './pages/not-found.tsx'
import { Failure, Loading } from './parts/states.tsx'
import { Shell } from './shell/shell.tsx'

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound })

/** Filters, sorting and selection live in the URL, as text. */
export type Search = Readonly<Record<string, string | undefined>>

const readSearch = (search: Record<string, unknown>): Search =>
  Object.fromEntries(
    Object.entries(search).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )

const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell })

const setup = createRoute({
  getParentRoute: () => root,
  path: '/setup',
  component: lazyRouteComponent(() => fetchProgram(() => import('./pages/setup.tsx')), 'Setup'),
})
const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => fetchProgram(() => import('./pages/login.tsx')), 'Login'),
})
const invite = createRoute({
  getParentRoute: () => root,
  path: '/invite/$token',
  component: lazyRouteComponent(() => fetchProgram(() => import('./pages/invite.tsx')), 'Invite'),
})
const home = createRoute({
  getParentRoute: () => shell,
  path: '/',
  component: lazyRouteComponent(
    () => fetchProgram(() => import('./pages/overview.tsx')),
    'OverviewPage',
  ),
})
const account = createRoute({
  getParentRoute: () => shell,
  path: '/account',
  component: lazyRouteComponent(
    () => fetchProgram(() => import('./pages/account.tsx')),
    'AccountPage',
  ),
})
const calls = createRoute({
  getParentRoute: () => shell,
  path: '/calls',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => fetchProgram(() => import('./pages/calls.tsx')), 'Calls'),
})
const call = createRoute({
  getParentRoute: () => shell,
  path: '/calls/$callId',
  component: lazyRouteComponent(
    () => fetchProgram(() => import('./pages/call-detail.tsx')),
    'CallPage',
  ),
})
const live = createRoute({
  getParentRoute: () => shell,
  path: '/live',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => fetchProgram(() => import('./pages/live/live.tsx')), 'Live'),
})
const recordings = createRoute({
  getParentRoute: () => shell,
  path: '/recordings',
  validateSearch: readSearch,
  component: lazyRouteComponent(
    () => fetchProgram(() => import('./pages/recordings.tsx')),
    'Recordings',
  ),
})
const contacts = createRoute({
  getParentRoute: () => shell,
  path: '/contacts',
  validateSearch: readSearch,
  component: lazyRouteComponent(
    () => fetchProgram(() => import('./pages/contacts.tsx')),
    'Contacts',
  ),
})
const importContacts = createRoute({
  getParentRoute: () => shell,
  path: '/contacts/import',
  validateSearch: readSearch,
  component: lazyRouteComponent(
    () => fetchProgram(() => import('./pages/import-contacts.tsx')),
    'ImportContacts',
  ),
})
const contact = createRoute({
  getParentRoute: () => shell,
  path: '/contacts/$contactId',
  component: lazyRouteComponent(
    () => fetchProgram(() => import('./pages/contact-detail.tsx')),
    'ContactPage',
  ),
})
const batches = createRoute({
  getParentRoute: () => shell,
  path: '/batches',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => fetchProgram(() => import('./pages/batches.tsx')), 'Batches'),
})
const newBatch = createRoute({
  getParentRoute: () => shell,
  path: '/batches/new',
  validateSearch: readSearch,
  component: lazyRouteComponent(
    () => fetchProgram(() => import('./pages/new-batch.tsx')),
    'NewBatch',
  ),
})
const batch = createRoute({
  getParentRoute: () => shell,
  path: '/batches/$batchId',
  validateSearch: readSearch,
  component: lazyRouteComponent(
    () => fetchProgram(() => import('./pages/batch-detail.tsx')),
    'BatchPage',
  ),
})
const agents = createRoute({
  getParentRoute: () => shell,
  path: '/agents',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => fetchProgram(() => import('./pages/agents.tsx')), 'Agents'),
})
const newAgent = createRoute({
  getParentRoute: () => shell,
  path: '/agents/new',
  validateSearch: readSearch,
  component: lazyRouteComponent(
    () => fetchProgram(() => import('./pages/agent-editor.tsx')),
    'NewAgent',
  ),
})
const agent = createRoute({
  getParentRoute: () => shell,
  path: '/agents/$agentId',
  validateSearch: readSearch,
  component: lazyRouteComponent(
    () => fetchProgram(() => import('./pages/agent-editor.tsx')),
    'AgentPage',
  ),
})
const automations = createRoute({
  getParentRoute: () => shell,
  path: '/automations',
  validateSearch: readSearch,
  component: lazyRouteComponent(
    () => fetchProgram(() => import('./pages/automations/automations.tsx')),
    'Automations',
  ),
})
const newAutomation = createRoute({
  getParentRoute: () => shell,
  path: '/automations/new',
  validateSearch: readSearch,
  component: lazyRouteComponent(
    () => fetchProgram(() => import('./pages/automations/automation-page.tsx')),
    'NewAutomation',
  ),
})
const automation = createRoute({
  getParentRoute: () => shell,
  path: '/automations/$automationId',
  validateSearch: readSearch,
  component: lazyRouteComponent(
    () => fetchProgram(() => import('./pages/automations/automation-page.tsx')),
    'AutomationPage',
  ),
})
const runs = createRoute({
  getParentRoute: () => shell,
  path: '/runs',
  validateSearch: readSearch,
  component: lazyRouteComponent(
    () => fetchProgram(() => import('./pages/automations/runs.tsx')),
    'Runs',
  ),
})
const run = createRoute({
  getParentRoute: () => shell,
  path: '/runs/$runId',
  validateSearch: readSearch,
  component: lazyRouteComponent(
    () => fetchProgram(() => import('./pages/automations/run-page.tsx')),
    'RunPage',
  ),
})
const requests = createRoute({
  getParentRoute: () => shell,
  path: '/developers/requests',
  validateSearch: readSearch,
  component: lazyRouteComponent(
    () => fetchProgram(() => import('./pages/requests/requests.tsx')),
    'Requests',
  ),
})
const request = createRoute({
  getParentRoute: () => shell,
  path: '/developers/requests/$requestId',
  component: lazyRouteComponent(
    () => fetchProgram(() => import('./pages/requests/request-detail.tsx')),
    'RequestPage',
  ),
})
const usage = createRoute({
  getParentRoute: () => shell,
  path: '/developers/usage',
  validateSearch: readSearch,
  component: lazyRouteComponent(
    () => fetchProgram(() => import('./pages/usage/usage.tsx')),
    'UsagePage',
  ),
})
const shortUsage = createRoute({
  getParentRoute: () => shell,
  path: '/usage',
  beforeLoad: () => {
    redirect({ to: '/developers/usage', throw: true })
  },
})
const health = createRoute({
  getParentRoute: () => shell,
  path: '/system/health',
  component: lazyRouteComponent(
    () => fetchProgram(() => import('./pages/system/health.tsx')),
    'HealthPage',
  ),
})
const shortHealth = createRoute({
  getParentRoute: () => shell,
  path: '/settings/system',
  beforeLoad: () => {
    redirect({ to: '/system/health', throw: true })
  },
})
const shortRequests = createRoute({
  getParentRoute: () => shell,
  path: '/requests',
  beforeLoad: () => {
    redirect({ to: '/developers/requests', throw: true })
  },
})
const members = createRoute({
  getParentRoute: () => shell,
  path: '/settings/members',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => fetchProgram(() => import('./pages/members.tsx')), 'Members'),
})
const organization = createRoute({
  getParentRoute: () => shell,
  path: '/settings/organization',
  component: lazyRouteComponent(
    () => fetchProgram(() => import('./pages/organization.tsx')),
    'OrganizationPage',
  ),
})
const policy = createRoute({
  getParentRoute: () => shell,
  path: '/settings/policy',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => fetchProgram(() => import('./pages/policy.tsx')), 'Policy'),
})
const shortPolicy = createRoute({
  getParentRoute: () => shell,
  path: '/policy',
  beforeLoad: () => {
    redirect({ to: '/settings/policy', throw: true })
  },
})
const keys = createRoute({
  getParentRoute: () => shell,
  path: '/settings/keys',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => fetchProgram(() => import('./pages/keys.tsx')), 'Keys'),
})
const trunks = createRoute({
  getParentRoute: () => shell,
  path: '/settings/telephony',
  component: lazyRouteComponent(() => import('./pages/trunks.tsx'), 'Trunks'),
})
const numbers = createRoute({
  getParentRoute: () => shell,
  path: '/settings/numbers',
  component: lazyRouteComponent(() => fetchProgram(() => import('./pages/numbers.tsx')), 'Numbers'),
})
const audit = createRoute({
  getParentRoute: () => shell,
  path: '/settings/audit',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => fetchProgram(() => import('./pages/audit.tsx')), 'Audit'),
})

export const router = createRouter({
  routeTree: root.addChildren([
    setup,
    login,
    invite,
    shell.addChildren([
      home,
      account,
      calls,
      call,
      live,
      recordings,
      contacts,
      importContacts,
      contact,
      batches,
      newBatch,
      batch,
      agents,
      newAgent,
      agent,
      automations,
      newAutomation,
      automation,
      runs,
      run,
      organization,
      policy,
      shortPolicy,
      members,
      requests,
      request,
      shortRequests,
      usage,
      shortUsage,
      health,
      shortHealth,
      keys,
      trunks,
      numbers,
      audit,
    ]),
  ]),
  defaultPreload: 'intent',
  defaultPendingComponent: Loading,
  defaultErrorComponent: Failure,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
