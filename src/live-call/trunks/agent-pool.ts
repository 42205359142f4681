import type { Logger } from '../../runtime/logger.ts'
import type { Telemetry } from '../../runtime/telemetry.ts'
import { systemTime } from '../../runtime/time.ts'
import type { ArrivedInvite } from '../../telephony/incoming/call-back.ts'
import {
  createTrunkAgent,
  type TrunkAgent,
  type TrunkLineSettings,
} from '../../telephony/trunk-line.ts'
import type { TrunkTls } from '../../telephony/trunks/gateway.ts'
import type { Trunk } from '../../telephony/trunk-uri.ts'

interface AgentPoolOptions {
  readonly settings: Omit<TrunkLineSettings, 'callerId'>
  readonly logger: Logger
  readonly telemetry: Telemetry
  /** Takes the calls of people to us; undefined: they get 403. */
  readonly onInvite?: ((incoming: ArrivedInvite, agent: TrunkAgent) => void) | undefined
}

interface AgentPool {
  /** A running user agent on this address that accepts these trunks too. */
  agentFor(
    bindAddress: string,
    trunks: readonly Trunk[],
    tls: TrunkTls | undefined,
  ): Promise<TrunkAgent>
  stop(): Promise<void>
}

/** Live calls of a trunk that was changed or removed may go on for this long: their BYE must be heard. */
const keptMs = 2 * 3_600_000
/** Trunks of one agent, with those that are kept. */
const maxKept = 1_000

interface Pooled {
  readonly agent: TrunkAgent
  readonly accepted: Map<string, { readonly trunk: Trunk; atMs: number }>
}

/**
 * The user agents of trunks: one for each local address, and one for each trunk with TLS settings of its own. The first
 * gets the configured port, the others any free one.
 */
export const createAgentPool = ({
  settings,
  logger,
  telemetry,
  onInvite,
}: AgentPoolOptions): AgentPool => {
  const agents = new Map<string, Promise<Pooled>>()
  let isPortTaken = false
  const open = async (bindAddress: string, tls: TrunkTls | undefined): Promise<Pooled> => {
    const port = isPortTaken ? 0 : settings.port
    isPortTaken = true
    const agent = createTrunkAgent(
      {
        ...settings,
        port,
        ...(port !== settings.port && { tlsPort: undefined }),
        bindAddress,
        listensOnTcp: tls === undefined,
        trunkTls: tls,
      },
      logger,
      telemetry,
    )
    if (onInvite !== undefined) agent.userAgent.onInvite((incoming) => onInvite(incoming, agent))
    await agent.userAgent.start()
    return { agent, accepted: new Map() }
  }
  return {
    agentFor: async (bindAddress, trunks, tls) => {
      const key = JSON.stringify([bindAddress, tls ?? null])
      const opening = agents.get(key) ?? open(bindAddress, tls)
      agents.set(key, opening)
      opening.catch(() => agents.delete(key))
      const { agent, accepted } = await opening
      accept(accepted, trunks)
      await agent.sources.setTrunks([...accepted.values()].map(({ trunk }) => trunk))
      return agent
    },
    stop: async () => {
      await Promise.all(
        [...agents.values()].map(async (opening) => {
          const { agent } = await opening
          await agent.userAgent.stop()
          await agent.sources.stop()
        }),
      )
    },
  }
}

const accept = (accepted: Pooled['accepted'], trunks: readonly Trunk[]): void => {
  const nowMs = systemTime.monotonicMs()
  for (const [key, { atMs }] of accepted)
    if (nowMs - atMs > keptMs || accepted.size >= maxKept) accepted.delete(key)
  for (const trunk of trunks)
    accepted.set(`${trunk.host}:${trunk.port}:${trunk.transport}`, { trunk, atMs: nowMs })
}
