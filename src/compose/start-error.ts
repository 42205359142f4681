import type { Config } from '../config.ts'

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

/** Faults of the system at start as one sentence with the remedy; everything else as it came. */
export const explainStartError = (error: unknown, config: Config): unknown => {
  if (!(error instanceof Error) || !('code' in error)) return error
  const { code, port, address } = error as { code: unknown; port?: number; address?: string }
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
  if (code === 'EADDRNOTAVAIL' || isHostUnknown(error, config))
    return new StartError(
      `This machine has no address ${address ?? config.OUTDIAL_HOST}: set OUTDIAL_HOST to one it has.`,
      { cause: error },
    )
  return error
}

/** The resolver does not know the name that OUTDIAL_HOST gives. */
const isHostUnknown = (error: { code?: unknown; hostname?: unknown }, config: Config): boolean =>
  (error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN') &&
  error.hostname === config.OUTDIAL_HOST
