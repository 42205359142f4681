import { atLeast, type Role } from '../../../src/contract/roles.ts'
import type { AnswerOf } from '../client/table.ts'
import { navigation } from './pages.ts'

/** Somewhere to go. */
export interface Target {
  readonly id: string
  readonly group: string
  readonly label: string
  readonly detail?: string
  readonly path: string
}

type Found = AnswerOf<'search'>['data'][number]

interface Action {
  readonly label: string
  readonly path: string
  readonly anyRole: readonly Role[]
}

/** Each opens the page where it is done. */
const actions: readonly Action[] = [
  { label: 'New batch', path: '/batches/new', anyRole: atLeast('operator') },
  { label: 'Import contacts', path: '/contacts/import', anyRole: atLeast('operator') },
  { label: 'New agent', path: '/agents/new', anyRole: atLeast('admin') },
  { label: 'New Automation', path: '/automations/new', anyRole: atLeast('admin') },
  { label: 'Create key', path: '/settings/keys?create=key', anyRole: atLeast('admin') },
  {
    label: 'Invite a member',
    path: '/settings/members?create=invitation',
    anyRole: atLeast('admin'),
  },
  { label: 'Your account', path: '/account', anyRole: atLeast('viewer') },
]

/** The actions and pages of the role of which words begin with those that are typed. */
export const knownTargets = (role: Role, text: string): readonly Target[] => [
  ...actions
    .filter(({ anyRole, label }) => anyRole.includes(role) && fits(label, text))
    .map(({ label, path }) => ({ id: `action ${path}`, group: 'Actions', label, path })),
  ...navigation
    .flatMap(({ entries }) => entries)
    .filter(({ anyRole, label }) => anyRole.includes(role) && fits(label, text))
    .map(({ label, path }) => ({ id: `page ${path}`, group: 'Pages', label, path })),
  ...requestOf(text),
]

const fits = (label: string, text: string): boolean => {
  const words = label.toLowerCase().split(' ')
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((typed) => words.some((word) => word.startsWith(typed)))
}

const requestOf = (text: string): readonly Target[] =>
  /^req_[A-Za-z0-9]{8,60}$/.test(text)
    ? [
        {
          id: `request ${text}`,
          group: 'API requests',
          label: text,
          path: `/developers/requests/${text}`,
        },
      ]
    : []

const kinds: Readonly<Record<Found['kind'], { readonly group: string; readonly path: string }>> = {
  contact: { group: 'Contacts', path: '/contacts/' },
  call: { group: 'Calls', path: '/calls/' },
  recording: { group: 'Recordings', path: '/calls/' },
  batch: { group: 'Batches', path: '/batches/' },
  run: { group: 'Runs', path: '/runs/' },
  agent: { group: 'Agents', path: '/agents/' },
  automation: { group: 'Automations', path: '/automations/' },
  key: { group: 'API keys', path: '/settings/keys' },
}

/** What the service found, one kind after the other. */
export const foundTargets = (found: readonly Found[]): readonly Target[] => {
  const order = Object.keys(kinds)
  return found.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind)).map(targetOf)
}

const targetOf = (found: Found): Target => {
  const {
    kind,
    id,
    call_id: callId,
    name,
    contact_name: person,
    phone_number: number,
    status,
  } = found
  const { group, path } = kinds[kind]
  const detail = [number, status?.replaceAll('_', ' '), id.slice(0, 13)].filter(Boolean).join(' · ')
  return {
    id: `${kind} ${id}`,
    group,
    label: name ?? person ?? `${kind} ${id.slice(0, 13)}`,
    detail,
    path: kind === 'key' ? path : path + (kind === 'recording' ? (callId ?? id) : id),
  }
}
