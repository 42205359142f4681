import type { Attack } from '../stage/attack.ts'
import { openTenant, type ApiAnswer, type Tenant } from '../stage/tenant.ts'

const quota = 20
const recipientsOfBatch = 8
const answersQuota = 5
/** The contract's error for a quota (docs/decisions.md). */
const refusals = [413, 429]

/** An organization that stores endlessly is stopped at its quota; no other is affected. */
export const storageQuotas: Attack = {
  name: 'storage-quotas',
  goal: 'contacts, batches, their recipients and kept answers are refused beyond the organization’s quota',
  async run(stage) {
    const { product } = stage
    const greedy = await openTenant(product, 'Greedy')
    const { id: agentId = '' } = await greedy.publishAgent()
    const names = ['contacts', 'batches', 'recipients']
    const options = names.flatMap((name) => ['--quota', `${name}=${quota}`])
    const set = await product.run('org', 'set', greedy.id, ...options)
    if (set.status !== 0) return { figure: 'no quota can be set', problems: ['there is none'] }
    const recipients = await fill(quota, (turn) =>
      placeBatch(greedy, agentId, turn, recipientsOfBatch),
    )
    const contacts = await fill(quota * 2, (turn) =>
      greedy.request('POST', '/contacts', contactOf(1_000 + turn)),
    )
    const keeping = await openTenant(product, 'Keeping answers')
    const { id: keepingAgent = '' } = await keeping.publishAgent()
    await product.ask('org', 'set', keeping.id, '--quota', `idempotency_answers=${answersQuota}`)
    const answers = await fill(quota, (turn) => placeBatch(keeping, keepingAgent, turn, 1))
    const other = await stage.tenant.request('POST', '/contacts', contactOf(5_000))
    const problems = [
      ...(recipients.isRefused ? [] : [`${recipients.accepted} batches were accepted`]),
      ...(recipients.accepted > 0 ? [] : ['no batch was accepted']),
      ...(contacts.isRefused ? [] : [`${contacts.accepted} contacts were accepted`]),
      ...(answers.isRefused && answers.accepted > 0
        ? []
        : [`${answers.accepted} answers were kept, of ${answersQuota} allowed`]),
      ...(other.status === 201 ? [] : [`another organization was answered ${other.status}`]),
    ]
    return {
      figure: `refused after ${recipients.accepted} batches of ${recipientsOfBatch}, ${contacts.accepted} contacts, ${answers.accepted} kept answers`,
      problems,
    }
  },
}

const fill = async (
  turns: number,
  add: (turn: number) => Promise<ApiAnswer>,
): Promise<{ accepted: number; isRefused: boolean }> => {
  for (let accepted = 0; accepted < turns; accepted += 1) {
    const { status } = await add(accepted)
    if (refusals.includes(status)) return { accepted, isRefused: true }
    if (status !== 201) return { accepted, isRefused: false }
  }
  return { accepted: turns, isRefused: false }
}

const contactOf = (number: number): object => ({
  external_id: `stored-${number}`,
  name: 'Stored',
  phone_number: `+1646222${String(number).padStart(4, '0')}`,
})

const placeBatch = (
  tenant: Tenant,
  agent_id: string,
  turn: number,
  count: number,
): Promise<ApiAnswer> =>
  tenant.request('POST', '/batches', {
    name: `Batch ${turn}`,
    agent_id,
    recipients: Array.from({ length: count }, (_, index) => contactOf(turn * count + index)),
  })
