import type { BlockList } from 'node:net'
import { administratorArea } from '../../contract/api-keys.ts'
import { rateWindowSeconds } from '../../contract/buckets.ts'
import { administratorOperations } from '../../contract/console/operations.ts'
import { operations } from '../../contract/operations.ts'
import { updateApiKey } from '../../console/keys/api-key-handlers.ts'
import type { Database } from '../../database/database.ts'
import { listAgents } from '../../domains/agents/list-agents.ts'
import type { ApiHandlers } from '../../domains/api-handler.ts'
import { cancelAutomationRun } from '../../domains/automations/cancel-automation-run.ts'
import { createAutomationRun } from '../../domains/automations/create-automation-run.ts'
import { getAutomation } from '../../domains/automations/get-automation.ts'
import { getAutomationRun } from '../../domains/automations/get-automation-run.ts'
import { getAutomationRunExplanation } from '../../domains/automations/get-automation-run-explanation.ts'
import { listAutomationRuns } from '../../domains/automations/list-automation-runs.ts'
import { listAutomations } from '../../domains/automations/list-automations.ts'
import { authenticateKeys } from '../../domains/api-keys/authenticate-key.ts'
import { createPrincipals } from '../../domains/api-keys/principals.ts'
import { cancelBatch } from '../../domains/batches/cancel-batch.ts'
import { createBatch } from '../../domains/batches/create-batch.ts'
import { getBatch } from '../../domains/batches/get-batch.ts'
import { getBatchExplanation } from '../../domains/batches/get-batch-explanation.ts'
import { listBatches } from '../../domains/batches/list-batches.ts'
import { pauseBatch } from '../../domains/batches/pause-batch.ts'
import { startBatch } from '../../domains/batches/start-batch.ts'
import { RequestNotes } from '../../domains/requests/request-notes.ts'
import type { EndCall } from '../../domains/calls/lifecycle/end-call.ts'
import { cancelCall } from '../../domains/calls/cancel-call.ts'
import { getCall } from '../../domains/calls/get-call.ts'
import { getCallExplanation } from '../../domains/calls/get-call-explanation.ts'
import { listCalls } from '../../domains/calls/list-calls.ts'
import { placeCall } from '../../domains/calls/place-call.ts'
import { getContact } from '../../domains/contacts/get-contact.ts'
import { listContacts } from '../../domains/contacts/list-contacts.ts'
import { upsertContact } from '../../domains/contacts/upsert-contact.ts'
import {
  createStorageQuotas,
  type StorageQuotas,
} from '../../domains/organizations/storage-quotas.ts'
import { installationSecrets } from '../../domains/organizations/installation-secrets.ts'
import { getRecording } from '../../domains/recordings/get-recording.ts'
import { listRecordings } from '../../domains/recordings/list-recordings.ts'
import type { DownloadUrls } from '../../domains/recordings/recording-resource.ts'
import { getCallSummary } from '../../domains/results/get-call-summary.ts'
import { getCallTranscript } from '../../domains/results/get-call-transcript.ts'
import { authenticateKeysOrSessions } from '../../identity/authenticate-session.ts'
import { createApiServer } from '../../http/api-server.ts'
import { createDocumentationPages } from '../../http/documentation/documentation-pages.ts'
import type { Readiness } from '../../http/readiness.ts'
import { createSharedWindows } from '../../http/rate-limits/shared-windows.ts'
import type { Clock } from '../../runtime/time.ts'
import type { Logger } from '../../runtime/logger.ts'
import { silentTelemetry, type Telemetry } from '../../runtime/telemetry.ts'
import type { Service } from '../../runtime/service.ts'

export interface ApiRoleOptions {
  readonly database: Database
  readonly host: string
  readonly port: number
  /** The address of the API for clients; called after it listens. */
  readonly publicUrl: () => string
  readonly endCall: EndCall
  readonly downloadUrls: DownloadUrls
  /** Whether other nodes serve the same organizations. The database then counts their allowances. */
  readonly sharesAllowances?: boolean
  /** Addresses and networks of proxies. Their `X-Forwarded-For` counts, and their connections have no limit. */
  readonly trustedProxies?: BlockList | undefined
  /** Where browsers reach the dashboard, whose sessions may change keys here too (D18). */
  readonly dashboardOrigins?: () => readonly string[]
  readonly isDraining: () => boolean
  readonly readiness: () => Promise<Readiness>
  readonly clock: Clock
  readonly logger: Logger
  readonly telemetry?: Telemetry
  /** Days that requests are kept; with 0 none is written. */
  readonly requestLogDays?: number
}

/** The API role: bearer keys in, the operations of the contract out. */
export const createApiRole = async (
  options: ApiRoleOptions,
): Promise<Service & { readonly port: number }> => {
  const { database, endCall, downloadUrls, clock, logger } = options
  const principals = createPrincipals({ database, clock, logger })
  const [newest, ...older] = await installationSecrets(database, 'cursor')
  const quotas = createStorageQuotas({ database, clock })
  const requests = new RequestNotes({
    database,
    clock,
    logger,
    telemetry: options.telemetry ?? silentTelemetry,
    days: options.requestLogDays,
  })
  const server = createApiServer({
    ...options,
    keepRequest: requests.note,
    operations: { ...operations, ...administratorOperations },
    handlers: { ...handlers, updateApiKey },
    parts: { quotas, clock, endCall, downloadUrls },
    storage: {
      prepare: (organizationId) => quotas.prepare(organizationId),
      keepResponse: (organizationId) => quotas.take(organizationId, 'idempotency_answers', 1),
    },
    closedAreas: [administratorArea],
    authenticate: authenticateKeysOrSessions(authenticateKeys(principals.findPrincipal, clock), {
      database,
      origins: options.dashboardOrigins ?? nowhere,
      logger,
    }),
    cursorSecrets: [newest.secret, ...older.map(({ secret }) => secret)],
    pages: createDocumentationPages(options.publicUrl),
    ...(options.sharesAllowances && {
      rateWindows: createSharedWindows({ database, clock, windowSeconds: rateWindowSeconds }),
    }),
  })
  return {
    get port() {
      return server.port
    },
    start: async () => {
      await principals.start()
      requests.start()
      await server.start()
    },
    stop: async () => {
      await server.stop()
      await requests.stop()
      await principals.stop()
    },
  }
}

const nowhere = (): readonly string[] => []

/** What handlers need besides the database. */
interface HandlerParts {
  readonly quotas: StorageQuotas
  readonly clock: Clock
  readonly endCall: EndCall
  readonly downloadUrls: DownloadUrls
}

const handlers: ApiHandlers<HandlerParts> = {
  placeCall,
  listCalls,
  getCall,
  getCallExplanation,
  cancelCall,
  getCallSummary,
  getCallTranscript,
  upsertContact,
  listContacts,
  getContact,
  listAgents,
  createBatch,
  listBatches,
  getBatch,
  getBatchExplanation,
  startBatch,
  pauseBatch,
  cancelBatch,
  listAutomations,
  getAutomation,
  createAutomationRun,
  listAutomationRuns,
  getAutomationRun,
  getAutomationRunExplanation,
  cancelAutomationRun,
  listRecordings,
  getRecording,
}
