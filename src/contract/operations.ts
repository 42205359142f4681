import { agentExample, agentFilters, agentList } from './agents.ts'
import {
  automationRun,
  automationRunFilters,
  automationRunInput,
  automationRunInputExample,
  automationRunList,
  automationRunPath,
  cancelledRunExample,
  completedRunExample,
  queuedRunExample,
} from './automation-runs.ts'
import {
  automation,
  automationExample,
  automationFilters,
  automationList,
  automationPath,
} from './automations.ts'
import {
  batch,
  batchFilters,
  batchInput,
  batchInputExample,
  batchList,
  batchPath,
  cancelledBatchExample,
  completedBatchExample,
  draftBatchExample,
  pausedBatchExample,
  queuedBatchExample,
} from './batches.ts'
import {
  callSummary,
  callSummaryExample,
  callTranscript,
  callTranscriptExample,
  transcriptQuery,
} from './call-results.ts'
import {
  call,
  callFilters,
  callInput,
  callInputExample,
  callList,
  callPath,
  cancelledCallExample,
  completedCallExample,
  queuedCallExample,
} from './calls.ts'
import {
  contact,
  contactExample,
  contactFilters,
  contactInput,
  contactInputExample,
  contactList,
  contactPath,
} from './contacts.ts'
import {
  automationRunExplanation,
  automationRunExplanationExample,
  batchExplanation,
  batchExplanationExample,
  callExplanation,
  callExplanationExample,
} from './explanations.ts'
import { nothing, op } from './define-operation.ts'
import {
  downloadableRecordingExample,
  recording,
  recordingExample,
  recordingFilters,
  recordingList,
  recordingPath,
  recordingQuery,
} from './recordings.ts'

/** The operations of this service (D2): a row here, a handler in the domain, and everything else derives. */
export const operations = {
  placeCall: op('POST /calls', {
    tag: 'Calls',
    summary: 'Place a call',
    description:
      'Accepts an immediate AI call into the durable queue. It waits in `queued` while capacity is full or the hours are closed; read its state with GET.',
    scope: 'calls:write',
    bucket: 'execution',
    idempotency: 'required',
    body: callInput,
    response: call,
    statuses: [202],
    location: '/calls/{id}',
    errors: [
      'resource_not_found',
      'resource_state_conflict',
      'contact_identity_conflict',
      'unsupported_destination',
      'recipient_blocked_by_policy',
    ],
    bodyExample: callInputExample,
    example: queuedCallExample,
  }),

  listCalls: op('GET /calls', {
    tag: 'Calls',
    summary: 'List calls',
    description:
      'Calls made through the API, newest first. With `batch_id` it is the recipient view of a batch.',
    scope: 'calls:read',
    bucket: 'read',
    query: callFilters,
    response: callList,
    paged: true,
    example: { data: [completedCallExample], next_cursor: null },
  }),

  getCall: op('GET /calls/{call_id}', {
    tag: 'Calls',
    summary: 'Get a call',
    description: 'Reads the state of one call made through the API.',
    scope: 'calls:read',
    bucket: 'read',
    params: callPath,
    response: call,
    errors: ['resource_not_found'],
    example: completedCallExample,
  }),

  getCallExplanation: op('GET /calls/{call_id}/explanation', {
    tag: 'Calls',
    summary: 'Explain why a call waits',
    description:
      'What an accepted call waits for: capacity, calling hours, its turn. Nothing of this is an error; `reasons` is empty once the call is dialled or has ended.',
    scope: 'calls:read',
    bucket: 'read',
    params: callPath,
    response: callExplanation,
    errors: ['resource_not_found'],
    example: callExplanationExample,
  }),

  cancelCall: op('POST /calls/{call_id}/cancel', {
    tag: 'Calls',
    summary: 'Cancel a call',
    description:
      'A queued call is cancelled at once. A live call records `cancel_requested_at` and is ended; the first terminal state to commit wins. A finished call is answered unchanged.',
    scope: 'calls:write',
    bucket: 'write',
    idempotency: 'optional',
    params: callPath,
    body: nothing,
    response: call,
    errors: ['resource_not_found'],
    example: cancelledCallExample,
  }),

  getCallSummary: op('GET /calls/{call_id}/summary', {
    tag: 'Results',
    summary: 'Get a call’s summary',
    description: 'Always 200 for a known call: `status` tells whether the summary is ready.',
    scope: 'calls:read',
    bucket: 'read',
    params: callPath,
    response: callSummary,
    errors: ['resource_not_found'],
    example: callSummaryExample,
  }),

  getCallTranscript: op('GET /calls/{call_id}/transcript', {
    tag: 'Results',
    summary: 'Get a call’s transcript',
    description:
      'Always 200 for a known call. A page may end before `limit` when its size budget is reached; a cursor pins one immutable revision.',
    scope: 'transcripts:read',
    bucket: 'transcript',
    params: callPath,
    query: transcriptQuery,
    response: callTranscript,
    paged: true,
    errors: ['resource_not_found'],
    example: callTranscriptExample,
  }),

  upsertContact: op('POST /contacts', {
    tag: 'Contacts',
    summary: 'Create, update or adopt a contact',
    description:
      'Finds the contact by (`source`, `external_id`), else adopts one that has the phone number and no identity, else creates it.',
    scope: 'contacts:write',
    bucket: 'write',
    body: contactInput,
    response: contact,
    statuses: [200, 201],
    location: '/contacts/{id}',
    errors: ['contact_identity_conflict'],
    bodyExample: contactInputExample,
    example: contactExample,
  }),

  listContacts: op('GET /contacts', {
    tag: 'Contacts',
    summary: 'List contacts',
    description: 'Your organization’s contacts, newest first.',
    scope: 'contacts:read',
    bucket: 'read',
    query: contactFilters,
    response: contactList,
    paged: true,
    example: { data: [contactExample], next_cursor: null },
  }),

  getContact: op('GET /contacts/{contact_id}', {
    tag: 'Contacts',
    summary: 'Get a contact',
    description: 'Reads one contact.',
    scope: 'contacts:read',
    bucket: 'read',
    params: contactPath,
    response: contact,
    errors: ['resource_not_found'],
    example: contactExample,
  }),

  listAgents: op('GET /agents', {
    tag: 'Agents',
    summary: 'List agents',
    description: 'Eligible AI voice agents, newest first. Either scope suffices.',
    scope: ['calls:read', 'batches:read'],
    bucket: 'read',
    query: agentFilters,
    response: agentList,
    paged: true,
    example: { data: [agentExample], next_cursor: null },
  }),

  createBatch: op('POST /batches', {
    tag: 'Batches',
    summary: 'Draft a batch',
    description:
      'Drafts a dialling job for 1 to 1,000 recipients: known contacts, or contacts that are upserted together with the batch. Nobody is called before it is started.',
    scope: 'batches:write',
    bucket: 'write',
    idempotency: 'required',
    body: batchInput,
    response: batch,
    statuses: [201],
    location: '/batches/{id}',
    errors: [
      'resource_not_found',
      'resource_state_conflict',
      'contact_identity_conflict',
      'unsupported_destination',
    ],
    bodyExample: batchInputExample,
    example: draftBatchExample,
  }),

  listBatches: op('GET /batches', {
    tag: 'Batches',
    summary: 'List batches',
    description: 'Batches made through the API, newest first.',
    scope: 'batches:read',
    bucket: 'read',
    query: batchFilters,
    response: batchList,
    paged: true,
    example: { data: [completedBatchExample], next_cursor: null },
  }),

  getBatch: op('GET /batches/{batch_id}', {
    tag: 'Batches',
    summary: 'Get a batch',
    description:
      'State and counters of one batch made through the API. `GET /calls?batch_id=` lists its recipients’ calls.',
    scope: 'batches:read',
    bucket: 'read',
    params: batchPath,
    response: batch,
    errors: ['resource_not_found'],
    example: completedBatchExample,
  }),

  getBatchExplanation: op('GET /batches/{batch_id}/explanation', {
    tag: 'Batches',
    summary: 'Explain why a batch waits',
    description:
      'What the batch waits for, or the next recipients of it: each reason once. Empty once nobody of it waits.',
    scope: 'batches:read',
    bucket: 'read',
    params: batchPath,
    response: batchExplanation,
    errors: ['resource_not_found'],
    example: batchExplanationExample,
  }),

  startBatch: op('POST /batches/{batch_id}/start', {
    tag: 'Batches',
    summary: 'Start or resume a batch',
    description:
      'A draft or paused batch becomes `scheduled` while `scheduled_start_at` lies ahead, else `queued`. From any other state it is 409 `resource_state_conflict`.',
    scope: 'batches:write',
    bucket: 'execution',
    idempotency: 'required',
    params: batchPath,
    response: batch,
    statuses: [202],
    errors: ['resource_not_found', 'resource_state_conflict'],
    example: queuedBatchExample,
  }),

  pauseBatch: op('POST /batches/{batch_id}/pause', {
    tag: 'Batches',
    summary: 'Pause a batch',
    description:
      'No further recipient is dialled; live calls go on and are counted. A paused or ended batch is answered unchanged; a draft is 409 `resource_state_conflict`.',
    scope: 'batches:write',
    bucket: 'write',
    idempotency: 'optional',
    params: batchPath,
    response: batch,
    errors: ['resource_not_found', 'resource_state_conflict'],
    example: pausedBatchExample,
  }),

  cancelBatch: op('POST /batches/{batch_id}/cancel', {
    tag: 'Batches',
    summary: 'Cancel a batch',
    description:
      'Recipients that are pending or queued become cancelled at once; live calls finish and are counted. An ended batch is answered unchanged.',
    scope: 'batches:write',
    bucket: 'write',
    idempotency: 'optional',
    params: batchPath,
    response: batch,
    errors: ['resource_not_found'],
    example: cancelledBatchExample,
  }),

  listAutomations: op('GET /automations', {
    tag: 'Automations',
    summary: 'List Automations',
    description:
      'The organization’s Automations, newest first. What they do is managed by the operator; a run needs an `active` one.',
    scope: 'automations:read',
    bucket: 'read',
    query: automationFilters,
    response: automationList,
    paged: true,
    example: { data: [automationExample], next_cursor: null },
  }),

  getAutomation: op('GET /automations/{automation_id}', {
    tag: 'Automations',
    summary: 'Get an Automation',
    description: 'Reads one Automation.',
    scope: 'automations:read',
    bucket: 'read',
    params: automationPath,
    response: automation,
    errors: ['resource_not_found'],
    example: automationExample,
  }),

  createAutomationRun: op('POST /automation-runs', {
    tag: 'Automations',
    summary: 'Run an Automation for a contact',
    description:
      'Accepts a run into the durable queue; read its state with GET. A contact has at most one active run of an Automation: a second one is 409 `duplicate_active_run` and names it in `details.existing_run_id`.',
    scope: 'automations:run',
    bucket: 'execution',
    idempotency: 'required',
    body: automationRunInput,
    response: automationRun,
    statuses: [202],
    location: '/automation-runs/{id}',
    errors: [
      'resource_not_found',
      'resource_state_conflict',
      'duplicate_active_run',
      'unsupported_destination',
      'recipient_blocked_by_policy',
    ],
    bodyExample: automationRunInputExample,
    example: queuedRunExample,
  }),

  listAutomationRuns: op('GET /automation-runs', {
    tag: 'Automations',
    summary: 'List Automation runs',
    description: 'The organization’s runs, newest first.',
    scope: 'automations:read',
    bucket: 'read',
    query: automationRunFilters,
    response: automationRunList,
    paged: true,
    example: { data: [completedRunExample], next_cursor: null },
  }),

  getAutomationRun: op('GET /automation-runs/{run_id}', {
    tag: 'Automations',
    summary: 'Get an Automation run',
    description: 'Reads one run.',
    scope: 'automations:read',
    bucket: 'read',
    params: automationRunPath,
    response: automationRun,
    errors: ['resource_not_found'],
    example: completedRunExample,
  }),

  getAutomationRunExplanation: op('GET /automation-runs/{run_id}/explanation', {
    tag: 'Automations',
    summary: 'Explain why a run waits',
    description:
      'What a run waits for: a wait of its definition, calling hours, or what its queued call waits for.',
    scope: 'automations:read',
    bucket: 'read',
    params: automationRunPath,
    response: automationRunExplanation,
    errors: ['resource_not_found'],
    example: automationRunExplanationExample,
  }),

  cancelAutomationRun: op('POST /automation-runs/{run_id}/cancel', {
    tag: 'Automations',
    summary: 'Cancel an Automation run',
    description:
      'Takes effect between step boundaries: a queued call of the run is cancelled, a live one finishes, and nothing after starts. A finished run is answered unchanged.',
    scope: 'automations:run',
    bucket: 'write',
    idempotency: 'optional',
    params: automationRunPath,
    body: nothing,
    response: automationRun,
    errors: ['resource_not_found'],
    example: cancelledRunExample,
  }),

  listRecordings: op('GET /recordings', {
    tag: 'Recordings',
    summary: 'List recordings',
    description:
      'Recordings of all the organization’s calls, however made, newest first by `recorded_at`.',
    scope: 'recordings:read',
    bucket: 'recording',
    query: recordingFilters,
    response: recordingList,
    paged: true,
    example: { data: [recordingExample], next_cursor: null },
  }),

  getRecording: op('GET /recordings/{recording_id}', {
    tag: 'Recordings',
    summary: 'Get a recording',
    description:
      'Mints a new signed download URL at every call. The URL is served from another host and needs no key.',
    scope: 'recordings:read',
    bucket: 'recording',
    params: recordingPath,
    query: recordingQuery,
    response: recording,
    errors: ['resource_not_found'],
    example: downloadableRecordingExample,
  }),
}

export type OperationName = keyof typeof operations
