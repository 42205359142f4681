import { z } from 'zod'
import { apiKey } from '../api-keys.ts'
import { dateTimeInput, opaqueId, text } from '../fields.ts'
import { op } from '../define-operation.ts'
import { apiRequestOperations } from './api-requests.ts'
import { scopes } from '../scopes.ts'
import { automationOperations } from './automation-operations.ts'
import { agentOperations } from './agent-operations.ts'
import { auditExport, auditExportFilters, auditFilters, auditList } from './audit.ts'
import * as identity from './identity.ts'
import { changes, open, reads } from './least-role.ts'
import { batchOperations } from './batch-operations.ts'
import { importOperations } from './import-operations.ts'
import { contactOperations } from './contact-operations.ts'
import { liveOperations } from './live-operations.ts'
import { organizationOperations } from './organization-operations.ts'
import { trunkOperations } from './trunks.ts'
import { numberOperations } from './numbers.ts'
import { healthOperations } from './health.ts'
import { usageOperations } from './usage.ts'
import { searchOperations } from './search-operations.ts'
import { callOperations } from './work-operations.ts'

const keyPath = z.strictObject({ api_key_id: opaqueId })
const keyWithSecret = apiKey.extend({
  /** Shown once. */
  secret: z.string(),
})

/** Its own account: every role. */
const account = {
  getSession: op('GET /console/session', { ...reads('viewer'), response: identity.session }),
  signIn: op('POST /console/session', {
    ...open,
    ownTransactions: true,
    body: identity.signInInput,
    response: identity.signInResult,
  }),
  signOut: op('DELETE /console/session', { ...changes('viewer'), response: identity.done }),
  chooseOrganization: op('POST /console/session/organization', {
    ...changes('viewer'),
    body: identity.organizationChoice,
    response: identity.done,
  }),
  listSessions: op('GET /console/account/sessions', {
    ...reads('viewer'),
    response: identity.accountSessionList,
  }),
  endSession: op('DELETE /console/account/sessions/{session_id}', {
    ...changes('viewer'),
    params: identity.accountSessionPath,
    response: identity.done,
  }),
  endOtherSessions: op('DELETE /console/account/sessions', {
    ...changes('viewer'),
    response: identity.done,
  }),
  changePassword: op('POST /console/account/password', {
    ...changes('viewer'),
    ownTransactions: true,
    body: identity.passwordChange,
    response: identity.done,
  }),
  beginTwoFactor: op('POST /console/account/two-factor', {
    ...changes('viewer'),
    ownTransactions: true,
    body: identity.passwordProof,
    response: identity.twoFactorSetup,
  }),
  confirmTwoFactor: op('POST /console/account/two-factor/confirm', {
    ...changes('viewer'),
    ownTransactions: true,
    body: identity.codeProof,
    response: identity.done,
  }),
  endTwoFactor: op('POST /console/account/two-factor/end', {
    ...changes('viewer'),
    ownTransactions: true,
    body: identity.passwordProof,
    response: identity.done,
  }),
  renewRecoveryCodes: op('POST /console/account/two-factor/recovery-codes', {
    ...changes('viewer'),
    ownTransactions: true,
    body: identity.passwordProof,
    response: identity.recoveryCodes,
  }),
} as const

/** By a secret from a link. */
const links = {
  checkSetup: op('POST /console/setup/check', {
    ...open,
    body: identity.secretInput,
    response: identity.setupState,
  }),
  setUp: op('POST /console/setup', {
    ...open,
    body: identity.setupInput,
    response: identity.done,
    statuses: [201],
    errors: ['resource_not_found', 'resource_state_conflict'],
  }),
  showInvitation: op('POST /console/invitations/check', {
    ...open,
    body: identity.secretInput,
    response: identity.shownInvitation,
    errors: ['resource_not_found'],
  }),
  acceptInvitation: op('POST /console/invitations/accept', {
    ...open,
    ownTransactions: true,
    body: identity.invitationAcceptance,
    response: identity.signInResult,
    errors: ['resource_not_found'],
  }),
} as const

const people = {
  listMembers: op('GET /console/members', { ...reads('admin'), response: identity.memberList }),
  changeRole: op('PATCH /console/members/{account_id}', {
    ...changes('admin'),
    params: identity.memberPath,
    body: identity.roleChange,
    response: identity.member,
    errors: ['resource_not_found', 'resource_state_conflict'],
  }),
  removeMember: op('DELETE /console/members/{account_id}', {
    ...changes('admin'),
    params: identity.memberPath,
    response: identity.done,
    errors: ['resource_not_found', 'resource_state_conflict'],
  }),
  listInvitations: op('GET /console/invitations', {
    ...reads('admin'),
    response: identity.invitationList,
  }),
  invite: op('POST /console/invitations', {
    ...changes('admin'),
    body: identity.invitationInput,
    response: identity.newInvitation,
    statuses: [201],
    errors: ['resource_state_conflict'],
  }),
  revokeInvitation: op('DELETE /console/invitations/{invitation_id}', {
    ...changes('admin'),
    params: identity.invitationPath,
    response: identity.done,
    errors: ['resource_not_found'],
  }),
  listAuditEntries: op('GET /console/audit', {
    ...reads('admin'),
    query: auditFilters,
    response: auditList,
    paged: true,
  }),
  exportAuditEntries: op('GET /console/audit/export', {
    ...reads('admin'),
    query: auditExportFilters,
    response: auditExport,
  }),
} as const

const keys = {
  listApiKeys: op('GET /console/api-keys', {
    ...reads('admin'),
    response: z.strictObject({ data: z.array(apiKey) }),
  }),
  createApiKey: op('POST /console/api-keys', {
    ...changes('admin'),
    body: z.strictObject({
      name: text(1, 200),
      scopes: z.array(z.enum(scopes)).min(1).max(scopes.length),
      expires_at: dateTimeInput.optional(),
    }),
    response: keyWithSecret,
    statuses: [201],
  }),
  renameApiKey: op('PATCH /console/api-keys/{api_key_id}', {
    ...changes('admin'),
    params: keyPath,
    body: z.strictObject({ name: text(1, 200) }),
    response: apiKey,
    errors: ['resource_not_found'],
  }),
  rotateApiKey: op('POST /console/api-keys/{api_key_id}/rotate', {
    ...changes('admin'),
    params: keyPath,
    response: keyWithSecret,
    statuses: [201],
    errors: ['resource_not_found', 'resource_state_conflict'],
  }),
  revokeApiKey: op('POST /console/api-keys/{api_key_id}/revoke', {
    ...changes('admin'),
    params: keyPath,
    response: apiKey,
    errors: ['resource_not_found'],
  }),
} as const

/** What the dashboard does: a row here, a handler in src/console/, and everything else derives. */
export const consoleOperations = {
  ...account,
  ...links,
  ...people,
  ...keys,
  ...agentOperations,
  ...callOperations,
  ...liveOperations,
  ...contactOperations,
  ...importOperations,
  ...batchOperations,
  ...automationOperations,
  ...organizationOperations,
  ...searchOperations,
  ...trunkOperations,
  ...numberOperations,
  ...apiRequestOperations,
  ...usageOperations,
  ...healthOperations,
} as const

export type ConsoleOperationName = keyof typeof consoleOperations

/** Operations of the API's table that keys never reach: for administrators' sessions on the API's port too (D18). */
export const administratorOperations = {
  updateApiKey: op('PATCH /api-keys/{api_key_id}', {
    ...changes('admin'),
    params: keyPath,
    body: z.strictObject({ name: text(1, 200) }),
    response: apiKey,
    errors: ['resource_not_found'],
  }),
} as const
