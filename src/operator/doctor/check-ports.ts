import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, isIPv6 } from 'node:net'
import type { Config } from '../../config/read-config.ts'
import { failed, ok, warning, type Finding } from './finding.ts'
import { httpOrigin } from '../../http/http-origin.ts'
import { explainStartError, problemOfSharedPort } from '../explain-start-error.ts'
import { sipBindAddress } from '../../telephony/telephony.ts'

const healthLimitMs = 5_000

/** Whether a start would get its ports; that a running Outdial has them is well. */
export const checkPorts = async (config: Config): Promise<Finding> => {
  const shared = problemOfSharedPort(config)
  if (shared !== undefined) return failed('ports', shared)
  const { http, sip } = config
  const wanted = [
    ['OUTDIAL_API_PORT', http.apiPort, () => listen(http.host, http.apiPort)],
    ['OUTDIAL_MEDIA_PORT', http.mediaPort, () => listen(http.host, http.mediaPort)],
    ['OUTDIAL_SIP_PORT', sip.port, () => bind(sip)],
  ] as const
  const taken: string[] = []
  for (const [name, port, take] of wanted) {
    const fault = port === 0 ? undefined : await faultOf(take())
    if (fault === undefined) continue
    if (fault.code !== 'EADDRINUSE') return failed('ports', sentenceOf(fault, config))
    taken.push(`${port} (${name})`)
  }
  if (taken.length === 0) return ok('ports', 'The ports are free.')
  return (await isOutdial(http))
    ? ok('ports', `Outdial is running on them: ${taken.join(', ')}.`)
    : warning(
        'ports',
        `In use by another program: ${taken.join(', ')}. Stop it, or set other ports.`,
      )
}

const faultOf = (taken: Promise<void>): Promise<NodeJS.ErrnoException | undefined> =>
  taken.then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error,
  )

const listen = async (host: string, port: number): Promise<void> => {
  const server = createServer()
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } finally {
    server.close()
  }
}

const bind = async (sip: Config['sip']): Promise<void> => {
  const address = sipBindAddress(sip)
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
  try {
    socket.bind(sip.port, address)
    await once(socket, 'listening')
  } finally {
    socket.close()
  }
}

const sentenceOf = (fault: NodeJS.ErrnoException, config: Config): string => {
  const explained = explainStartError(fault, config)
  return explained instanceof Error ? explained.message : fault.message
}

const isOutdial = async ({ host, apiPort }: Config['http']): Promise<boolean> => {
  const url = `${httpOrigin(host, apiPort)}/healthz`
  const answer = await fetch(url, { signal: AbortSignal.timeout(healthLimitMs) }).catch(
    () => undefined,
  )
  return answer?.headers.get('service-version') != null
}
