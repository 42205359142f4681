import {
  chooseOrganization,
  endOtherSessions,
  endSession,
  getSession,
  listSessions,
  signIn,
  signOut,
} from './account/session-handlers.ts'
import {
  beginTwoFactor,
  changePassword,
  confirmTwoFactor,
  endTwoFactor,
  renewRecoveryCodes,
} from './account/password-handlers.ts'
import { acceptInvitation, checkSetup, setUp, showInvitation } from './account/link-handlers.ts'
import { archiveAgent, createAgent, getAgent, listAgents } from './agents/agent-handlers.ts'
import {
  checkAgent,
  createAgentDraft,
  discardAgentDraft,
  saveAgentDraft,
} from './agents/draft-handlers.ts'
import {
  compareAgentVersions,
  getAgentVersion,
  listAgentVersions,
  publishAgent,
  rollBackAgent,
} from './agents/version-handlers.ts'
import type { ConsoleHandlers } from './console-handler.ts'
import {
  createApiKey,
  listApiKeys,
  renameApiKey,
  revokeApiKey,
  rotateApiKey,
} from './keys/api-key-handlers.ts'
import { exportAuditEntries, listAuditEntries } from './people/audit-handlers.ts'
import { invite, listInvitations, revokeInvitation } from './people/invitation-handlers.ts'
import { changeRole, listMembers, removeMember } from './people/member-handlers.ts'

import {
  checkAutomation,
  countRunsAtSteps,
  createAutomation,
  getAutomation,
  listAutomations,
  listAutomationVersions,
  publishAutomation,
  setAutomationStatus,
  simulateAutomation,
} from './automations/automation-handlers.ts'
import {
  cancelRun,
  getRun,
  getRunExplanation,
  listRuns,
  startRun,
} from './automations/run-handlers.ts'
import {
  cancelBatch,
  createBatch,
  getBatch,
  listBatches,
  listRecipients,
  pauseBatch,
  previewWindow,
  retryBatch,
  startBatch,
} from './work/batch-handlers.ts'
import { cancelCall, getCall, getOverview, listCalls, placeCall } from './work/call-handlers.ts'
import { callAgain, reprocessCall } from './work/call-repetition.ts'
import { getContact, listContacts, upsertContact } from './work/contact-handlers.ts'
import { changePolicy, getPolicy } from './work/policy-handlers.ts'
import { deleteCallRecording, getCallRecording, listRecordings } from './work/recording-handlers.ts'

/** One handler for each operation of the dashboard. */
export const consoleHandlers: ConsoleHandlers = {
  getSession,
  signIn,
  signOut,
  chooseOrganization,
  listSessions,
  endSession,
  endOtherSessions,
  changePassword,
  beginTwoFactor,
  confirmTwoFactor,
  endTwoFactor,
  renewRecoveryCodes,
  checkSetup,
  setUp,
  showInvitation,
  acceptInvitation,
  listMembers,
  changeRole,
  removeMember,
  listInvitations,
  invite,
  revokeInvitation,
  listAuditEntries,
  exportAuditEntries,
  listApiKeys,
  createApiKey,
  renameApiKey,
  rotateApiKey,
  revokeApiKey,
  listAgents,
  getAgent,
  createAgent,
  checkAgent,
  createAgentDraft,
  saveAgentDraft,
  discardAgentDraft,
  publishAgent,
  listAgentVersions,
  getAgentVersion,
  rollBackAgent,
  compareAgentVersions,
  archiveAgent,
  getOverview,
  listCalls,
  getCall,
  getCallRecording,
  deleteCallRecording,
  listRecordings,
  callAgain,
  reprocessCall,
  placeCall,
  cancelCall,
  listContacts,
  getContact,
  upsertContact,
  listBatches,
  getBatch,
  listRecipients,
  createBatch,
  previewWindow,
  retryBatch,
  startBatch,
  pauseBatch,
  cancelBatch,
  listAutomations,
  getAutomation,
  listAutomationVersions,
  countRunsAtSteps,
  createAutomation,
  checkAutomation,
  simulateAutomation,
  publishAutomation,
  setAutomationStatus,
  listRuns,
  getRun,
  getRunExplanation,
  startRun,
  cancelRun,
  getPolicy,
  changePolicy,
}
