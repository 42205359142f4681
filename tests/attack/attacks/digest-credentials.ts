import { setTimeout as delay } from 'node:timers/promises'
import { strangerAddress } from '../stage/addresses.ts'
import type { Attack } from '../stage/attack.ts'
import type { Stage } from '../stage/stage.ts'
import { openTenant } from '../stage/tenant.ts'
import { composeResponse, headerOf, parseSip } from '../stage/sip-text.ts'
import { openUdpPeer } from '../stage/udp-peer.ts'

const realm = 'trunk.example'
const challengeOf = (name: string, algorithm = 'SHA-256'): string =>
  `Digest realm="${name}", nonce="${Math.random()}", algorithm=${algorithm}, qop="auth"`
/** Without our own nonce in it, such a hash can be attacked offline for every trunk at once. */
const withoutQop = `Digest realm="${realm}", nonce="n", algorithm=MD5`
const settleMs = 2_500

/** Credentials are for the trunk: its addresses, and its first realm. */
export const digestCredentials: Attack = {
  name: 'digest-credentials',
  goal: 'credentials go to the trunk’s addresses and first realm, by no weaker digest than it demands',
  async run(stage) {
    const problems: string[] = []
    // The trunk's own challenge is answered, and pins its realm.
    if (!(await answersChallenge(stage, challengeOf(realm))))
      problems.push('the trunk’s own challenge was not answered')
    if (await answersChallenge(stage, challengeOf('another.example')))
      problems.push('a second realm was answered')
    const bytes = await leaksToContact(stage)
    if (bytes.credentials) problems.push('a foreign Contact was sent credentials')
    problems.push(...(await leaksByWeakDigest(stage)))
    return { figure: `${problems.length} leaks of 5 tried`, problems }
  },
}

/** Whether an INVITE with this challenge comes back with credentials. */
const answersChallenge = async (stage: Stage, challenge: string): Promise<boolean> => {
  const { trunk, tenant, agentId } = stage
  const number = stage.newNumber()
  let isAnswered = false
  trunk.plan(number, async (call, count) => {
    if (count > 1) {
      isAnswered = call.invites.some((invite) => headerOf(invite, 'proxy-authorization') !== '')
      // A 2xx proves that the trunk knows these credentials.
      return call.answer()
    }
    return call.respond('407 Proxy Authentication Required', {
      headers: [['Proxy-Authenticate', challenge]],
    })
  })
  const { body } = await tenant.call(agentId, number, `challenge ${number}`)
  const leg = await trunk.callTo(number)
  await Promise.race([leg.over, delay(settleMs)])
  await tenant.request('POST', `/calls/${body.id}/cancel`, {})
  await Promise.race([leg.over, delay(settleMs)])
  return isAnswered
}

/**
 * A trunk that asks for less than its setting requires; MD5 without qop is less than any setting requires. Each on
 * its own product, because a trunk with a refused challenge is not called again at once.
 */
const leaksByWeakDigest = async (stage: Stage): Promise<string[]> => {
  const problems: string[] = []
  if (await isWeakAnswered(stage, '', withoutQop)) problems.push('MD5 without qop was answered')
  if (await isWeakAnswered(stage, ';auth=sha-256', challengeOf(realm, 'MD5')))
    problems.push('MD5 was answered where SHA-256 is the least')
  return problems
}

/** Throws if not even a valid challenge is answered. */
const isWeakAnswered = async (
  stage: Stage,
  parameter: string,
  challenge: string,
): Promise<boolean> => {
  const settings = {
    ...stage.settings,
    OUTDIAL_SIP_TRUNK: `${stage.settings['OUTDIAL_SIP_TRUNK']}${parameter}`,
  }
  const product = await stage.startAnother({ settings })
  try {
    const tenant = await openTenant(product, 'Weak digest')
    const { id: agentId = '' } = await tenant.publishAgent()
    const other = { ...stage, product, tenant, agentId }
    if (!(await answersChallenge(other, challengeOf(realm))))
      throw new Error('SHA-256 was not answered')
    return await answersChallenge(other, challenge)
  } finally {
    await product.stop()
  }
}

/** The Contact of the 200 is elsewhere, and challenges the BYE sent there. */
const leaksToContact = async (stage: Stage): Promise<{ credentials: boolean }> => {
  const { trunk, tenant, agentId } = stage
  const elsewhere = await openUdpPeer(strangerAddress(120))
  let credentials = false
  elsewhere.onMessage((data, from) => {
    const message = parseSip(data.toString('latin1'))
    if (!message) return
    credentials ||=
      headerOf(message, 'proxy-authorization') !== '' || headerOf(message, 'authorization') !== ''
    if (message.method === 'ACK' || message.method === undefined) return
    const headers = [['Proxy-Authenticate', challengeOf(realm)]] as const
    const text = composeResponse(message, '407 Proxy Authentication Required', { headers })
    void elsewhere.send(text, from.port, from.address)
  })
  const number = stage.newNumber()
  const line = `contact ${number}`
  trunk.plan(number, (call) =>
    call.answer({ contact: `<sip:${elsewhere.address}:${elsewhere.port}>` }),
  )
  const { body } = await tenant.call(agentId, number, line)
  // A trunk with a refused challenge is tried again after a while.
  await trunk.callTo(number)
  await delay(settleMs)
  await tenant.request('POST', `/calls/${body.id}/cancel`, {})
  await delay(settleMs)
  elsewhere.close()
  return { credentials }
}
