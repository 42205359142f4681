import { z } from 'zod'
import { op } from '../define-operation.ts'
import { done } from './identity.ts'
import * as imports from './imports.ts'
import { changes, reads } from './least-role.ts'

const conflicting = { errors: ['resource_not_found', 'resource_state_conflict'] } as const
const one = { ...conflicting, params: imports.importPath } as const

/** A file of contacts: uploaded in parts, checked and mended, then imported or made a batch of. */
export const importOperations = {
  createImport: op('POST /console/imports', {
    ...changes('operator'),
    body: imports.newImport,
    response: imports.importState,
    statuses: [201],
  }),
  addImportPart: op('POST /console/imports/{import_id}/parts', {
    ...changes('operator'),
    ...one,
    body: imports.importPart,
    response: imports.importState,
  }),
  getImport: op('GET /console/imports/{import_id}', {
    ...reads('operator'),
    ...one,
    response: imports.importDetail,
  }),
  deleteImport: op('DELETE /console/imports/{import_id}', {
    ...changes('operator'),
    ...one,
    response: done,
  }),
  checkImport: op('POST /console/imports/{import_id}/check', {
    ...changes('operator'),
    ...one,
    body: imports.importCheck,
    response: z.union([imports.importCounts, imports.importRunning]),
  }),
  getImportWork: op('GET /console/imports/{import_id}/work', {
    ...reads('operator'),
    ...one,
    response: imports.importWork,
  }),
  listRefusedRows: op('GET /console/imports/{import_id}/refused-rows', {
    ...reads('operator'),
    ...one,
    query: imports.refusedFilters,
    response: imports.refusedRows,
  }),
  exportRefusedRows: op('GET /console/imports/{import_id}/refused-rows/export', {
    ...reads('operator'),
    ...one,
    query: imports.refusedFilters,
    response: imports.refusedExport,
  }),
  commitImport: op('POST /console/imports/{import_id}/commit', {
    ...changes('operator'),
    ...one,
    body: imports.importCommit,
    response: z.union([imports.importReceipt, imports.importRunning]),
    errors: ['resource_not_found', 'resource_state_conflict', 'contact_identity_conflict'],
  }),
  draftImport: op('POST /console/imports/{import_id}/batches', {
    ...changes('operator'),
    ...one,
    body: imports.importBatches,
    response: z.union([imports.madeBatches, imports.importRunning]),
    statuses: [201],
    errors: [
      'resource_not_found',
      'resource_state_conflict',
      'contact_identity_conflict',
      'unsupported_destination',
    ],
  }),
} as const
