import type { Config } from '../config.ts'
import { isRetryable } from '../database/errors.ts'
import { DatabaseSetupError } from '../database/setup-error.ts'

/** The service cannot start here; the message says why and what to do. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

const portSettings = [
  'OUTDIAL_API_PORT',
  'OUTDIAL_DASHBOARD_PORT',
  'OUTDIAL_MEDIA_PORT',
  'OUTDIAL_SIP_PORT',
] as const

/** What is wrong where two of our servers were given one port. Port 0 is another one for each. */
export const problemOfSharedPort = ({
  OUTDIAL_API_PORT: api,
  OUTDIAL_MEDIA_PORT: media,
}: Config): string | undefined =>
  api === media && api !== 0
    ? `Port ${api} is both OUTDIAL_API_PORT and OUTDIAL_MEDIA_PORT: set one of them to another port.`
    : undefined

/** Faults of the system at start as one sentence with the remedy; everything else as it came. */
export const explainStartError = (error: unknown, config: Config): unknown => {
  if (isDatabaseLost(error, config))
    return new StartError(
      `The database went away during the start (${error.message}): start again when it answers.`,
      { cause: error },
    )
  const fault = systemFaultOf(error)
  if (!fault) return error
  const { code, port, address } = fault
  const shared = port === config.OUTDIAL_API_PORT ? problemOfSharedPort(config) : undefined
  if (code === 'EADDRINUSE' && shared !== undefined) return new StartError(shared, { cause: error })
  const setting = portSettings.find((name) => config[name] === port)
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
      `This machine has no address ${address ?? config.OUTDIAL_HOST}: set OUTDIAL_HOST to one it has.`,
      { cause: error },
    )
  return error
}

interface SystemFault {
  readonly code: unknown
  readonly port?: number
  readonly address?: string
  readonly hostname?: string
}

/** What the system said, which may stand behind the words of a part of ours. */
const systemFaultOf = (error: unknown): SystemFault | undefined => {
  if (!(error instanceof Error)) return undefined
  return 'code' in error ? (error as Error & SystemFault) : systemFaultOf(error.cause)
}

/** A connection that is refused says where; other losses are known only from PostgreSQL. */
const isDatabaseLost = (error: unknown, { DATABASE_URL: url }: Config): error is Error => {
  if (url === undefined || !(error instanceof Error) || !isRetryable(error)) return false
  // It says already what is wrong.
  if (error instanceof DatabaseSetupError) return false
  const { port } = error as { port?: number }
  return port === undefined || port === Number(new URL(url).port || 5432)
}

/** The resolver does not know the name that OUTDIAL_HOST gives. */
const isHostUnknown = ({ code, hostname }: SystemFault, config: Config): boolean =>
  (code === 'ENOTFOUND' || code === 'EAI_AGAIN') && hostname === config.OUTDIAL_HOST
