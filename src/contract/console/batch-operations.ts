import { batch, batchFilters, batchInput, batchList, batchPath } from '../batches.ts'
import { op } from '../define-operation.ts'
import {
  batchDetail,
  batchRecipients,
  retryInput,
  windowPreview,
  windowPreviewInput,
} from './batches.ts'
import { batchForecast } from './forecasts.ts'
import { changes, reads } from './least-role.ts'

const unknownId = { errors: ['resource_not_found'] } as const
const conflicting = { errors: ['resource_not_found', 'resource_state_conflict'] } as const

export const batchOperations = {
  listBatches: op('GET /console/batches', {
    ...reads('viewer'),
    query: batchFilters,
    response: batchList,
    paged: true,
  }),
  getBatch: op('GET /console/batches/{batch_id}', {
    ...reads('viewer'),
    ...unknownId,
    params: batchPath,
    response: batchDetail,
  }),
  listRecipients: op('GET /console/batches/{batch_id}/recipients', {
    ...reads('viewer'),
    ...unknownId,
    params: batchPath,
    response: batchRecipients,
  }),
  forecastBatch: op('GET /console/batches/{batch_id}/forecast', {
    ...reads('viewer'),
    ...unknownId,
    params: batchPath,
    response: batchForecast,
  }),
  createBatch: op('POST /console/batches', {
    ...changes('operator'),
    body: batchInput,
    response: batch,
    statuses: [201],
    errors: [
      'resource_not_found',
      'resource_state_conflict',
      'contact_identity_conflict',
      'unsupported_destination',
    ],
  }),
  previewWindow: op('POST /console/batch-windows/preview', {
    ...changes('operator'),
    ...unknownId,
    body: windowPreviewInput,
    response: windowPreview,
  }),
  retryBatch: op('POST /console/batches/{batch_id}/retry', {
    ...changes('operator'),
    params: batchPath,
    body: retryInput,
    response: batch,
    statuses: [201],
    errors: ['resource_not_found', 'resource_state_conflict', 'unsupported_destination'],
  }),
  startBatch: op('POST /console/batches/{batch_id}/start', {
    ...changes('operator'),
    ...conflicting,
    params: batchPath,
    response: batch,
  }),
  pauseBatch: op('POST /console/batches/{batch_id}/pause', {
    ...changes('operator'),
    ...conflicting,
    params: batchPath,
    response: batch,
  }),
  cancelBatch: op('POST /console/batches/{batch_id}/cancel', {
    ...changes('operator'),
    ...unknownId,
    params: batchPath,
    response: batch,
  }),
} as const
