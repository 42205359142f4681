import type { Role } from '../../../src/contract/roles.ts'
import { atLeast } from '../../../src/contract/roles.ts'

interface NavigationEntry {
  readonly path: string
  readonly label: string
  readonly anyRole: readonly Role[]
}

interface NavigationGroup {
  readonly label: string
  readonly entries: readonly NavigationEntry[]
}

/** The pages that stand, in the order of the page map. */
export const navigation: readonly NavigationGroup[] = [
  {
    label: 'Calling',
    entries: [
      { path: '/', label: 'Overview', anyRole: atLeast('viewer') },
      { path: '/calls', label: 'Calls', anyRole: atLeast('viewer') },
      { path: '/live', label: 'Live', anyRole: atLeast('viewer') },
      { path: '/recordings', label: 'Recordings', anyRole: atLeast('viewer') },
      { path: '/agents', label: 'Agents', anyRole: atLeast('viewer') },
      { path: '/contacts', label: 'Contacts', anyRole: atLeast('viewer') },
      { path: '/batches', label: 'Batches', anyRole: atLeast('viewer') },
      { path: '/automations', label: 'Automations', anyRole: atLeast('viewer') },
      { path: '/runs', label: 'Runs', anyRole: atLeast('viewer') },
    ],
  },
  {
    label: 'Developers',
    entries: [
      { path: '/developers/requests', label: 'API requests', anyRole: atLeast('viewer') },
      { path: '/developers/usage', label: 'Usage', anyRole: atLeast('viewer') },
    ],
  },
  {
    label: 'Organization',
    entries: [
      { path: '/settings/policy', label: 'Calling policy', anyRole: atLeast('viewer') },
      { path: '/settings/numbers', label: 'Numbers', anyRole: atLeast('operator') },
      { path: '/settings/organization', label: 'Settings', anyRole: atLeast('viewer') },
      { path: '/settings/keys', label: 'API keys', anyRole: atLeast('admin') },
      { path: '/settings/members', label: 'Members', anyRole: atLeast('admin') },
      { path: '/settings/audit', label: 'Audit log', anyRole: atLeast('admin') },
    ],
  },
  {
    label: 'Installation',
    entries: [
      { path: '/settings/telephony', label: 'Telephony', anyRole: atLeast('owner') },
      { path: '/system/health', label: 'System health', anyRole: atLeast('owner') },
    ],
  },
]
