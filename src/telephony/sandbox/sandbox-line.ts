import { onlySource } from '../../sip/gate/sources.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Telemetry } from '../../runtime/telemetry.ts'
import { createUserAgent } from '../../sip/user-agent/user-agent.ts'
import type { Line } from '../line.ts'
import { createSipCarrier, type SipCarrier } from '../sip-carrier.ts'
import { parseTrunkUri } from '../trunk-uri.ts'
import { SandboxCarrier } from './sandbox-carrier.ts'

/** Where SIP and RTP of the sandbox are. */
export const sandboxAddress = '127.0.0.1'
/** From the range reserved for fiction (NANP 555-0100 to 0199). */
const callerId = '+12025550199'

export interface SandboxLine extends Line {
  readonly callerId: string
}

/** The sandbox carrier on loopback, and the user agent that dials it from this port. */
export const createSandboxLine = (
  port: number,
  logger: Logger,
  telemetry: Telemetry,
): SandboxLine => {
  const sandbox = new SandboxCarrier({ logger, callerPort: () => userAgent.localPort })
  const userAgent = createUserAgent({
    logger,
    telemetry,
    sources: onlySource(sandboxAddress, () => parseTrunkUri(sandbox.target).port ?? 0),
    bindAddress: sandboxAddress,
    port,
  })
  // The carrier is known once the sandbox has its port; no call is dialled before the parts have started.
  let carrier: SipCarrier | undefined
  const reach = (): SipCarrier =>
    (carrier ??= createSipCarrier({
      userAgent,
      trunk: parseTrunkUri(sandbox.target),
      sendsCallId: true,
      logger,
    }))
  return {
    name: 'the sandbox carrier',
    callerId,
    mediaBindAddress: sandboxAddress,
    carrier: { dial: (request, signal) => reach().dial(request, signal) },
    ping: async () => (await reach().ping()).isAlive,
    start: async () => {
      // The sandbox accepts only this user agent, whose port must be known by then.
      await userAgent.start()
      await sandbox.start()
    },
    stop: async () => {
      await userAgent.stop()
      await sandbox.stop()
    },
  }
}
