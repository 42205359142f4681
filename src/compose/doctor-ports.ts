import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, isIPv6 } from 'node:net'
import type { Config } from '../config.ts'
import { failed, ok, warning, type Finding } from './finding.ts'
import { httpOrigin } from '../http/http-origin.ts'
import { explainStartError, problemOfSharedPort } from './start-error.ts'
import { sipBindAddress } from './telephony.ts'

const healthLimitMs = 5_000

/** Whether a start would get its ports; that a running Outdial has them is well. */
export const checkPorts = async (config: Config): Promise<Finding> => {
  const shared = problemOfSharedPort(config)
  if (shared !== undefined) return failed('ports', shared)
  const host = config.OUTDIAL_HOST
  const wanted = [
    ['OUTDIAL_API_PORT', (port: number) => listen(host, port)],
    ['OUTDIAL_MEDIA_PORT', (port: number) => listen(host, port)],
    ['OUTDIAL_SIP_PORT', (port: number) => bind(config, port)],
  ] as const
  const taken: string[] = []
  for (const [name, take] of wanted) {
    const port = config[name]
    const fault = port === 0 ? undefined : await faultOf(take(port))
    if (fault === undefined) continue
    if (fault.code !== 'EADDRINUSE') return failed('ports', sentenceOf(fault, config))
    taken.push(`${port} (${name})`)
  }
  if (taken.length === 0) return ok('ports', 'The ports are free.')
  return (await isOutdial(config))
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

const bind = async (config: Config, port: number): Promise<void> => {
  const address = sipBindAddress(config)
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
  try {
    socket.bind(port, address)
    await once(socket, 'listening')
  } finally {
    socket.close()
  }
}

const sentenceOf = (fault: NodeJS.ErrnoException, config: Config): string => {
  const explained = explainStartError(fault, config)
  return explained instanceof Error ? explained.message : fault.message
}

const isOutdial = async (config: Config): Promise<boolean> => {
  const url = `${httpOrigin(config.OUTDIAL_HOST, config.OUTDIAL_API_PORT)}/healthz`
  const answer = await fetch(url, { signal: AbortSignal.timeout(healthLimitMs) }).catch(
    () => undefined,
  )
  return answer?.headers.get('service-version') != null
}
