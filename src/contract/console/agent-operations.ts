import { agent } from '../agents.ts'
import { op } from '../define-operation.ts'
import * as agents from './agents.ts'
import { changes, reads } from './least-role.ts'

const unknownId = { errors: ['resource_not_found'] } as const
const conflicting = { errors: ['resource_not_found', 'resource_state_conflict'] } as const

/** The path of an agent. */
const ofAgent = { params: agents.agentPath } as const

export const agentOperations = {
  listAgents: op('GET /console/agents', {
    ...reads('viewer'),
    query: agents.agentListFilters,
    response: agents.listedAgents,
  }),
  getAgent: op('GET /console/agents/{agent_id}', {
    ...reads('viewer'),
    ...unknownId,
    ...ofAgent,
    response: agents.shownAgent,
  }),
  /** Publishes it at once. */
  createAgent: op('POST /console/agents', {
    ...changes('admin'),
    body: agents.agentFile,
    response: agent,
    statuses: [201],
  }),
  /** Changes nothing, and is a POST because an agent is longer than a URL. */
  checkAgent: op('POST /console/agents/check', {
    ...changes('viewer'),
    ...unknownId,
    ownTransactions: true,
    bucket: 'read',
    body: agents.agentCheckInput,
    response: agents.agentCheck,
  }),
  createAgentDraft: op('POST /console/agents/drafts', {
    ...changes('admin'),
    body: agents.agentFile,
    response: agents.savedDraft,
    statuses: [201],
  }),
  saveAgentDraft: op('PATCH /console/agents/{agent_id}/draft', {
    ...changes('admin'),
    ...conflicting,
    ...ofAgent,
    body: agents.draftInput,
    response: agents.savedDraft,
  }),
  discardAgentDraft: op('DELETE /console/agents/{agent_id}/draft', {
    ...changes('admin'),
    ...conflicting,
    ...ofAgent,
    query: agents.draftSeen,
    response: agents.shownAgent,
  }),
  /** Publishes a version, and ends the draft that it was made from. */
  publishAgent: op('POST /console/agents/{agent_id}/versions', {
    ...changes('admin'),
    ...conflicting,
    ...ofAgent,
    query: agents.publicationSeen,
    body: agents.agentFile,
    response: agents.publishedAgent,
    statuses: [201],
  }),
  listAgentVersions: op('GET /console/agents/{agent_id}/versions', {
    ...reads('viewer'),
    ...unknownId,
    ...ofAgent,
    query: agents.versionListFilters,
    response: agents.agentVersions,
  }),
  getAgentVersion: op('GET /console/agents/{agent_id}/versions/{version}', {
    ...reads('viewer'),
    ...unknownId,
    params: agents.versionPath,
    response: agents.agentVersion,
  }),
  /** Publishes an older version's definition as the next version. */
  rollBackAgent: op('POST /console/agents/{agent_id}/versions/{version}/restore', {
    ...changes('admin'),
    ...conflicting,
    params: agents.versionPath,
    query: agents.rollBackSeen,
    response: agents.publishedAgent,
    statuses: [201],
  }),
  compareAgentVersions: op('GET /console/agents/{agent_id}/differences', {
    ...reads('viewer'),
    ...unknownId,
    ...ofAgent,
    query: agents.differencesInput,
    response: agents.agentDifferenceList,
  }),
  archiveAgent: op('POST /console/agents/{agent_id}/archive', {
    ...changes('admin'),
    ...unknownId,
    ...ofAgent,
    response: agent,
  }),
} as const
