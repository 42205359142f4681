import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer, isIPv6 } from 'node:net'
import type { Config } from '../config/read-config.ts'
import { clusterOf } from '../database/embedded-folders.ts'
import { sipBindAddress } from '../telephony/telephony.ts'

/** A port of the service. `take` binds it and releases it; it rejects with the system's error. */
interface PortTrial {
  readonly setting:
    'OUTDIAL_API_PORT' | 'OUTDIAL_DASHBOARD_PORT' | 'OUTDIAL_MEDIA_PORT' | 'OUTDIAL_SIP_PORT'
  readonly port: number
  readonly take: () => Promise<void>
}

/** The ports of the settings, except 0: there the system chooses a free one. */
export const portTrials = ({ http, sip }: Pick<Config, 'http' | 'sip'>): PortTrial[] => {
  const tcp = (port: number) => ({ port, take: () => tryTcp(http.host, port) })
  return [
    { setting: 'OUTDIAL_API_PORT' as const, ...tcp(http.apiPort) },
    { setting: 'OUTDIAL_DASHBOARD_PORT' as const, ...tcp(http.dashboardPort) },
    { setting: 'OUTDIAL_MEDIA_PORT' as const, ...tcp(http.mediaPort) },
    {
      setting: 'OUTDIAL_SIP_PORT' as const,
      port: sip.port,
      take: () => tryUdp(sipBindAddress(sip), sip.port),
    },
  ].filter(({ port }) => port !== 0)
}

/** Reports a port in use before the first start spends 20 s on the database. Later starts check the data folder first. */
export const tryPortsOfFirstStart = async (
  config: Pick<Config, 'store' | 'http' | 'sip'>,
): Promise<void> => {
  const { databaseUrl, dataFolder } = config.store
  if (databaseUrl !== undefined || existsSync(clusterOf(dataFolder))) return
  for (const { take } of portTrials(config)) await take()
}

const tryTcp = async (host: string, port: number): Promise<void> => {
  const server = createServer()
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } finally {
    server.close()
  }
}

const tryUdp = async (address: string, port: number): Promise<void> => {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
  try {
    socket.bind(port, address)
    await once(socket, 'listening')
  } finally {
    socket.close()
  }
}
