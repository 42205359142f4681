import type { Config } from '../config/read-config.ts'
import { isRetryable } from '../database/errors.ts'
import { DatabaseSetupError } from '../database/setup-error.ts'
import { StartError } from '../runtime/start-error.ts'

/** Groups with settings that can make a start fail. */
export type StartConfig = Pick<Config, 'store' | 'http' | 'sip'>

/** The ports of our HTTP servers, in the order in which they are opened. */
const httpPorts = ({ http }: Pick<Config, 'http'>): readonly (readonly [number, string])[] => [
  [http.apiPort, 'OUTDIAL_API_PORT'],
  [http.dashboardPort, 'OUTDIAL_DASHBOARD_PORT'],
  [http.mediaPort, 'OUTDIAL_MEDIA_PORT'],
  ...(http.metricsPort === undefined ? [] : [[http.metricsPort, 'OUTDIAL_METRICS_PORT'] as const]),
]

/** The problem if servers of ours have one port. Port 0 is a different one for each. */
export const problemOfSharedPort = (config: Pick<Config, 'http'>): string | undefined => {
  const ports = httpPorts(config)
  for (const [port] of ports) {
    const settings = ports.filter(([each]) => each === port).map(([, setting]) => setting)
    if (port === 0 || settings.length === 1) continue
    return settings.length === 2
      ? `Port ${port} is both ${settings.join(' and ')}: set one of them to another port.`
      : `Port ${port} is ${settings.join(', ')} at once: set each of them to a port of its own.`
  }
  return undefined
}

/** Turns a system error at start into one sentence with its remedy. Returns other errors unchanged. */
export const explainStartError = (error: unknown, config: StartConfig): unknown => {
  if (isDatabaseLost(error, config))
    return new StartError(
      `The database went away during the start (${error.message}): start again when it answers.`,
      { cause: error },
    )
  const fault = systemFaultOf(error)
  if (!fault) return error
  const { code, port, address } = fault
  const isOurs = httpPorts(config).filter(([each]) => each === port).length > 1
  const shared = isOurs ? problemOfSharedPort(config) : undefined
  if (code === 'EADDRINUSE' && shared !== undefined) return new StartError(shared, { cause: error })
  const setting = settingOfPort(config, port)
  if (code === 'EADDRINUSE' && setting)
    return new StartError(
      `Port ${port} is in use by another program: stop that, or set ${setting} to a free port.`,
      { cause: error },
    )
  if (code === 'EACCES' && setting)
    return new StartError(
      `This user may not listen on port ${port}: set ${setting} to a port from 1024.`,
      { cause: error },
    )
  if (code === 'EADDRNOTAVAIL' && port !== undefined && port === config.http.metricsPort)
    return new StartError(
      `This machine has no address ${address ?? config.http.metricsHost}: set OUTDIAL_METRICS_HOST to one it has.`,
      { cause: error },
    )
  if (code === 'EADDRNOTAVAIL' || isHostUnknown(fault, config))
    return new StartError(
      `This machine has no address ${address ?? config.http.host}: set OUTDIAL_HOST to one it has.`,
      { cause: error },
    )
  return error
}

const settingOfPort = (config: StartConfig, port: number | undefined): string | undefined =>
  [...httpPorts(config), [config.sip.port, 'OUTDIAL_SIP_PORT'] as const].find(
    ([each]) => each === port,
  )?.[1]

interface SystemFault {
  readonly code: unknown
  readonly port?: number
  readonly address?: string
  readonly hostname?: string
}

/** The system error, which may be the cause of an error of ours. */
const systemFaultOf = (error: unknown): SystemFault | undefined => {
  if (!(error instanceof Error)) return undefined
  return 'code' in error ? (error as Error & SystemFault) : systemFaultOf(error.cause)
}

/** A refused connection names its port; other lost connections come from PostgreSQL only. */
const isDatabaseLost = (
  error: unknown,
  { store: { databaseUrl: url } }: StartConfig,
): error is Error => {
  if (url === undefined || !(error instanceof Error) || !isRetryable(error)) return false
  // Its message already says what is wrong.
  if (error instanceof DatabaseSetupError) return false
  const { port } = error as { port?: number }
  return port === undefined || port === Number(new URL(url).port || 5432)
}

/** The resolver does not know the host of OUTDIAL_HOST. */
const isHostUnknown = ({ code, hostname }: SystemFault, config: StartConfig): boolean =>
  (code === 'ENOTFOUND' || code === 'EAI_AGAIN') && hostname === config.http.host
