import { callPath } from '../calls.ts'
import { op } from '../define-operation.ts'
import { changes, reads } from './least-role.ts'
import { agentPath } from './agents.ts'
import { audioTicket, liveCallList, talkInput } from './live.ts'

export const liveOperations = {
  listLiveCalls: op('GET /console/live', { ...reads('viewer'), response: liveCallList }),
  listenToCall: op('POST /console/calls/{call_id}/listen', {
    ...changes('operator'),
    params: callPath,
    response: audioTicket,
    errors: ['resource_not_found', 'resource_state_conflict'],
  }),
  talkToAgent: op('POST /console/agents/{agent_id}/talk', {
    ...changes('admin'),
    params: agentPath,
    body: talkInput,
    response: audioTicket,
    errors: ['resource_not_found', 'resource_state_conflict'],
  }),
} as const
