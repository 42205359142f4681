import { administratorArea } from '../contract/api-keys.ts'
import { operations, type ApiHandlers } from '../contract/operations.ts'
import type { Database, Queryable, Transaction } from '../database/database.ts'
import { listAgents } from '../domains/agents/list-agents.ts'
import { createPrincipals } from '../domains/api-keys/principals.ts'
import type { OnCallEnded } from '../domains/calls/call-ended.ts'
import { createCancelCall } from '../domains/calls/cancel-call.ts'
import { getCall } from '../domains/calls/get-call.ts'
import { listCalls } from '../domains/calls/list-calls.ts'
import { createPlaceCall } from '../domains/calls/place-call.ts'
import { getContact } from '../domains/contacts/get-contact.ts'
import { listContacts } from '../domains/contacts/list-contacts.ts'
import { upsertContact } from '../domains/contacts/upsert-contact.ts'
import { installationSecrets } from '../domains/organizations/installation-secrets.ts'
import { createGetRecording } from '../domains/recordings/get-recording.ts'
import { createListRecordings } from '../domains/recordings/list-recordings.ts'
import type { DownloadUrls } from '../domains/recordings/recording-resource.ts'
import { getCallSummary } from '../domains/results/get-call-summary.ts'
import { getCallTranscript } from '../domains/results/get-call-transcript.ts'
import { createApiServer, type Readiness } from '../http/api-server.ts'
import { createDocumentationPages } from '../http/documentation-pages.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Service } from '../runtime/service.ts'

export interface ApiRoleOptions {
  readonly database: Database
  readonly host: string
  readonly port: number
  /** What clients are told the API is. */
  readonly publicUrl: string
  readonly onCallEnded: OnCallEnded
  readonly downloadUrls: DownloadUrls
  readonly isDraining: () => boolean
  readonly readiness: () => Promise<Readiness>
  readonly clock: Clock
  readonly logger: Logger
}

/** The API role: bearer keys in, the operations of the contract out. */
export const createApiRole = async (
  options: ApiRoleOptions,
): Promise<Service & { readonly port: number }> => {
  const { database, clock, logger } = options
  const principals = createPrincipals({ database, clock, logger })
  const [newest, ...older] = await installationSecrets(database, 'cursor')
  const server = createApiServer({
    ...options,
    operations,
    handlers: handlersOf(options),
    closedAreas: [administratorArea],
    findPrincipal: principals.findPrincipal,
    cursorSecrets: [newest.secret, ...older.map(({ secret }) => secret)],
    pages: createDocumentationPages(options.publicUrl),
  })
  return {
    get port() {
      return server.port
    },
    start: async () => {
      await principals.start()
      await server.start()
    },
    stop: async () => {
      await server.stop()
      await principals.stop()
    },
  }
}

const handlersOf = ({
  database,
  onCallEnded,
  downloadUrls,
}: ApiRoleOptions): ApiHandlers<Queryable, Transaction> => ({
  placeCall: createPlaceCall(database.hint),
  listCalls,
  getCall,
  cancelCall: createCancelCall(database.hint, onCallEnded),
  getCallSummary,
  getCallTranscript,
  upsertContact,
  listContacts,
  getContact,
  listAgents,
  listRecordings: createListRecordings(downloadUrls),
  getRecording: createGetRecording(downloadUrls),
})
