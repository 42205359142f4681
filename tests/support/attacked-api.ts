// The API server in its own process, so that a test can measure the cost of an attack. It sends `{port, key,
// otherKey}` over IPC when it listens; for `memory` it returns its present and maximum resident set, in bytes.
import { createDocumentationPages } from '../../src/http/documentation/documentation-pages.ts'
import { newOrganizationId } from '../../src/domains/organizations/organization-id.ts'
import { startApiFixture } from './api-fixture.ts'

const agents = Array.from({ length: 100 }, (_, at) => ({
  id: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`,
  name: 'x'.repeat(1_000),
}))

const api = await startApiFixture({
  checkResponses: false,
  maxConnectionsPerAddress: 100,
  pages: createDocumentationPages(() => 'http://localhost'),
  // A large response that is built anew for each request.
  handlers: { listAgents: async () => ({ data: agents, next: null }) as never },
})
const rateLimits = { read: 1e9, write: 1e9, execution: 1e9, transcript: 1e9, recording: 1e9 }

let most = 0
const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 20)
process.on('message', () => {
  const now = process.memoryUsage.rss()
  process.send?.({ memory: now, most: Math.max(most, now) })
  most = 0
})
process.once('disconnect', () => {
  clearInterval(timer)
  void api.stop()
})
process.send?.({
  port: api.port,
  key: api.makeKey({ rateLimits }),
  otherKey: api.makeKey({ rateLimits, organizationId: newOrganizationId() }),
})
