import { z } from 'zod'
import {
  automationRun,
  automationRunFilters,
  automationRunInput,
  automationRunPath,
} from '../automation-runs.ts'
import { automation, automationFilters, automationList, automationPath } from '../automations.ts'
import { op } from '../define-operation.ts'
import { automationRunExplanation } from '../explanations.ts'
import * as views from './automations.ts'
import { changes, reads } from './least-role.ts'
import { file } from './work.ts'

const unknownId = { errors: ['resource_not_found'] } as const
const conflicting = { errors: ['resource_not_found', 'resource_state_conflict'] } as const

const newStatus = z.strictObject({ status: z.enum(['active', 'paused', 'archived']) })

export const automationOperations = {
  listAutomations: op('GET /console/automations', {
    ...reads('viewer'),
    query: automationFilters,
    response: automationList,
    paged: true,
  }),
  getAutomation: op('GET /console/automations/{automation_id}', {
    ...reads('viewer'),
    ...unknownId,
    params: automationPath,
    query: views.versionChoice,
    response: views.shownAutomation,
  }),
  listAutomationVersions: op('GET /console/automations/{automation_id}/versions', {
    ...reads('viewer'),
    ...unknownId,
    params: automationPath,
    response: views.automationVersions,
  }),
  countRunsAtSteps: op('GET /console/automations/{automation_id}/steps', {
    ...reads('viewer'),
    ...unknownId,
    params: automationPath,
    response: views.runsAtSteps,
  }),
  createAutomation: op('POST /console/automations', {
    ...changes('admin'),
    query: views.newAutomationOptions,
    body: file,
    response: automation,
    statuses: [201],
  }),
  // It changes nothing, and a page asks for it as one types.
  checkAutomation: op('POST /console/automations/check', {
    ...reads('operator'),
    body: file,
    response: views.automationCheck,
  }),
  // A viewer could read masked fields of a contact by what branches choose.
  simulateAutomation: op('POST /console/automations/simulate', {
    ...reads('operator'),
    ...unknownId,
    body: views.simulationInput,
    response: views.simulatedRun,
  }),
  publishAutomation: op('POST /console/automations/{automation_id}/versions', {
    ...changes('admin'),
    ...conflicting,
    params: automationPath,
    query: views.publishOptions,
    body: file,
    response: automation,
    statuses: [201],
  }),
  setAutomationStatus: op('PATCH /console/automations/{automation_id}', {
    ...changes('admin'),
    ...conflicting,
    params: automationPath,
    body: newStatus,
    response: automation,
  }),
  listRuns: op('GET /console/runs', {
    ...reads('viewer'),
    query: automationRunFilters,
    response: views.consoleRunList,
    paged: true,
  }),
  getRun: op('GET /console/runs/{run_id}', {
    ...reads('viewer'),
    ...unknownId,
    params: automationRunPath,
    response: views.runDetail,
  }),
  getRunExplanation: op('GET /console/runs/{run_id}/explanation', {
    ...reads('viewer'),
    ...unknownId,
    params: automationRunPath,
    response: automationRunExplanation,
  }),
  startRun: op('POST /console/runs', {
    ...changes('operator'),
    errors: [
      'resource_not_found',
      'resource_state_conflict',
      'duplicate_active_run',
      'recipient_blocked_by_policy',
      'unsupported_destination',
    ],
    body: automationRunInput,
    response: automationRun,
    statuses: [202],
  }),
  cancelRun: op('POST /console/runs/{run_id}/cancel', {
    ...changes('operator'),
    ...unknownId,
    params: automationRunPath,
    response: automationRun,
  }),
} as const
