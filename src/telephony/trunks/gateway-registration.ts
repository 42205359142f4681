import { createDigestPolicy } from '../../sip/digest/digest-policy.ts'
import { hostPort } from '../../sip/message/uri.ts'
import { newId } from '../../runtime/ids.ts'
import type { TrunkAgent } from '../trunk-line.ts'
import { trunkTarget, type Trunk } from '../trunk-uri.ts'
import type { TrunkDefinition } from './gateway.ts'
import { createRegistration, type Registration } from './registration.ts'

/** Of this process: each node registers for itself, told apart by it. */
const instance = newId()

/** The registration of a trunk at one of its gateways, not started; undefined: it needs none. */
export const registrationOf = (
  { userAgent, sources }: Pick<TrunkAgent, 'userAgent' | 'sources'>,
  definition: TrunkDefinition,
  trunk: Trunk,
  onChange: () => void = () => {},
): Registration | undefined => {
  const { registerSeconds, credentials, shape } = definition
  if (registerSeconds === undefined || credentials === undefined) return undefined
  const user = encodeURIComponent(shape.fromUser ?? credentials.username)
  const settings = {
    registrar: trunkTarget(trunk),
    address: `sip:${user}@${shape.fromDomain ?? hostPort(trunk.host)}`,
    outboundProxy: definition.outboundProxy,
    credentials,
    digestPolicy: createDigestPolicy({
      ...(definition.auth !== undefined && { weakest: definition.auth }),
      ...(definition.realm !== undefined && { realm: definition.realm }),
      belongsToTrunk: (destination) => sources.belongsTo(trunk, destination),
    }),
    expiresSeconds: registerSeconds,
    instance,
  }
  return createRegistration(userAgent, settings, { onChange })
}
