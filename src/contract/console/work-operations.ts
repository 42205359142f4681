import { call, callPath } from '../calls.ts'
import { op } from '../define-operation.ts'
import { done } from './identity.ts'
import { changes, reads } from './least-role.ts'
import * as work from './work.ts'

const unknownId = { errors: ['resource_not_found'] } as const
const conflicting = { errors: ['resource_not_found', 'resource_state_conflict'] } as const

export const callOperations = {
  getOverview: op('GET /console/overview', { ...reads('viewer'), response: work.overview }),
  listCalls: op('GET /console/calls', {
    ...reads('viewer'),
    query: work.consoleCallFilters,
    response: work.consoleCallList,
    paged: true,
  }),
  getCall: op('GET /console/calls/{call_id}', {
    ...reads('viewer'),
    ...unknownId,
    params: callPath,
    response: work.callDetail,
  }),
  getCallTrace: op('GET /console/calls/{call_id}/trace', {
    ...reads('viewer'),
    ...unknownId,
    params: callPath,
    response: work.callTrace,
  }),
  getCallRecording: op('GET /console/calls/{call_id}/recording', {
    ...reads('operator'),
    ...unknownId,
    params: callPath,
    response: work.callRecording,
  }),
  /** The caller's audio is gone for good: for those who may erase a person (D18). */
  deleteCallRecording: op('DELETE /console/calls/{call_id}/recording', {
    ...changes('admin'),
    ...conflicting,
    params: callPath,
    response: done,
  }),
  listRecordings: op('GET /console/recordings', {
    ...reads('viewer'),
    query: work.consoleRecordingFilters,
    response: work.consoleRecordingList,
    paged: true,
  }),
  callAgain: op('POST /console/calls/{call_id}/again', {
    ...changes('operator'),
    ...conflicting,
    params: callPath,
    response: call,
    statuses: [202],
  }),
  reprocessCall: op('POST /console/calls/{call_id}/reprocess', {
    ...changes('operator'),
    ...conflicting,
    params: callPath,
    response: call,
  }),
  placeCall: op('POST /console/calls', {
    ...changes('operator'),
    ...conflicting,
    body: work.callRequest,
    response: call,
    statuses: [202],
  }),
  cancelCall: op('POST /console/calls/{call_id}/cancel', {
    ...changes('operator'),
    ...unknownId,
    params: callPath,
    response: call,
  }),
} as const
