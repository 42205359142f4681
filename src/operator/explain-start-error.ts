import type { Config } from '../config/read-config.ts'
import { isRetryable } from '../database/errors.ts'
import { DatabaseSetupError } from '../database/setup-error.ts'
import { StartError } from '../runtime/start-error.ts'

/** Groups with settings that can make a start fail. */
export type StartConfig = Pick<Config, 'store' | 'http' | 'sip'>

/** The problem if two servers have one port. Port 0 is a different one for each. */
export const problemOfSharedPort = ({
  http: { apiPort, mediaPort },
}: Pick<Config, 'http'>): string | undefined =>
  apiPort === mediaPort && apiPort !== 0
    ? `Port ${apiPort} is both OUTDIAL_API_PORT and OUTDIAL_MEDIA_PORT: set one of them to another port.`
    : undefined

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
  const shared = port === config.http.apiPort ? problemOfSharedPort(config) : undefined
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
  if (code === 'EADDRNOTAVAIL' || isHostUnknown(fault, config))
    return new StartError(
      `This machine has no address ${address ?? config.http.host}: set OUTDIAL_HOST to one it has.`,
      { cause: error },
    )
  return error
}

const settingOfPort = (
  { http, sip }: StartConfig,
  port: number | undefined,
): string | undefined => {
  const ports: readonly (readonly [number, string])[] = [
    [http.apiPort, 'OUTDIAL_API_PORT'],
    [http.dashboardPort, 'OUTDIAL_DASHBOARD_PORT'],
    [http.mediaPort, 'OUTDIAL_MEDIA_PORT'],
    [sip.port, 'OUTDIAL_SIP_PORT'],
  ]
  return ports.find(([each]) => each === port)?.[1]
}

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
