import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { agent as agentSchema } from '../../contract/agents.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { newId } from '../../runtime/ids.ts'
import { contextOf, minimalAgentFile } from '../../../tests/support/organization-fixture.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { createOrganization } from '../organizations/create-organization.ts'
import { findAgent, findAgentDefinition, listAllAgents } from './agent-store.ts'
import { archiveAgent } from './archive-agent.ts'
import { createAgent } from './create-agent.ts'
import { eligibleAgent } from './eligible-agent.ts'
import { listAgents } from './list-agents.ts'
import { publishAgent } from './publish-agent.ts'

let test: TestDatabase
let organizationId: OrganizationId
let otherId: OrganizationId
before(async () => {
  test = await createTestDatabase()
  otherId = (await createOrganization(test.db, { name: 'B' })).id
})
after(() => test.drop())
beforeEach(async () => {
  organizationId = (await createOrganization(test.db, { name: 'A' })).id
})

const create = (members: object = {}) =>
  createAgent(test.db, organizationId, { ...minimalAgentFile, ...members })
const eligible = async (id: string) => {
  const row = await findAgent(test.db, organizationId, id)
  return row && eligibleAgent(row)
}
const list = (organization: OrganizationId, limit = 20, cursor?: { sort: string; id: string }) =>
  listAgents({ params: {}, query: { limit, cursor }, body: {} }, contextOf(test.db, organization))

describe('agents', () => {
  it('are published at once and pinned by version', async () => {
    const agent = await create({ description: 'Reminds.' })
    assert.deepEqual(agentSchema.parse(agent), agent)
    assert.deepEqual(await eligible(agent.id), {
      id: agent.id,
      version: 1,
    })
    const definition = await findAgentDefinition(test.db, organizationId, agent.id, 1)
    assert.equal(definition?.greeting, minimalAgentFile.greeting)
    assert.equal(definition?.max_duration_seconds, 900)
    assert.equal(await findAgentDefinition(test.db, organizationId, agent.id, 2), undefined)
  })

  it('are published again in a new version, while the old ones stay unchanged', async () => {
    const { id } = await create()
    const publish = (greeting: string) =>
      publishAgent(test.db, id, { ...minimalAgentFile, name: 'New', greeting })
    const published = await publish('Second.')
    assert.deepEqual([published.version, published.name], [2, 'New'])
    assert.deepEqual(await eligible(id), { id, version: 2 })
    const greetingOf = async (version: number) =>
      (await findAgentDefinition(test.db, organizationId, id, version))?.greeting
    assert.equal(await greetingOf(1), minimalAgentFile.greeting)
    assert.equal(await greetingOf(2), 'Second.')
    const together = await Promise.all(['a', 'b', 'c', 'd'].map(publish))
    assert.deepEqual(
      together.map(({ version }) => version).toSorted((a, b) => a - b),
      [3, 4, 5, 6],
    )
  })

  it('are not published with errors, nor when they are archived or unknown', async () => {
    const { id } = await create()
    await assert.rejects(publishAgent(test.db, id, { ...minimalAgentFile, greeting: '{{x}}' }), {
      name: 'InvalidFileError',
    })
    await archiveAgent(test.db, id)
    for (const each of [id, newId(), 'nonsense'])
      await assert.rejects(publishAgent(test.db, each, minimalAgentFile), { name: 'OperatorError' })
    assert.equal(await findAgentDefinition(test.db, organizationId, id, 2), undefined)
  })

  it('are listed newest first, eligible ones only', async () => {
    const [first, second, third] = [await create(), await create(), await create()]
    await archiveAgent(test.db, second.id)
    const page = await list(organizationId, 1)
    assert.deepEqual(page.data, [third])
    assert.deepEqual(await list(organizationId, 1, page.next ?? undefined), {
      data: [first],
      next: null,
    })
    assert.equal('description' in first, false)
    const everywhere = await listAllAgents(test.db, undefined)
    assert.ok(everywhere.some(({ id }) => id === first.id))
    assert.ok(everywhere.every(({ id }) => id !== second.id))
    assert.equal((await listAllAgents(test.db, organizationId)).length, 2)
  })

  it('that are archived take no new calls, but keep their texts', async () => {
    const { id } = await create()
    const archived = await archiveAgent(test.db, id)
    assert.deepEqual(await archiveAgent(test.db, id), archived)
    assert.equal(await eligible(id), undefined)
    assert.ok(await findAgentDefinition(test.db, organizationId, id, 1))
  })

  it('that were never published are not eligible', async () => {
    const { id } = await create()
    const unpublish = {
      name: 'test.unpublish',
      text: `update agents set published_version = null where organization_id = $1 and id = $2`,
    }
    await test.db.run(unpublish, [organizationId, id])
    assert.deepEqual((await list(organizationId)).data, [])
    assert.equal(await eligible(id), undefined)
  })

  it('of another organization are unknown', async () => {
    const { id } = await create()
    assert.deepEqual((await list(otherId)).data, [])
    assert.equal(await findAgentDefinition(test.db, otherId, id, 1), undefined)
    for (const unknown of [id, newId(), 'agent', ''])
      assert.equal(await findAgent(test.db, otherId, unknown), undefined)
    await assert.rejects(archiveAgent(test.db, newId()), /There is no agent/)
    await assert.rejects(archiveAgent(test.db, 'agent'), /There is no agent/)
  })

  it('from a bad file leave no trace', async () => {
    await assert.rejects(create({ prompt: '{{x}}' }), { name: 'InvalidFileError' })
    assert.deepEqual(await listAllAgents(test.db, organizationId), [])
  })
})
