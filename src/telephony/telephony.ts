import type { Logger } from '../runtime/logger.ts'
import type { Service } from '../runtime/service.ts'
import type { Telemetry } from '../runtime/telemetry.ts'
import { StartError } from '../runtime/start-error.ts'
import type { Line } from './line.ts'
import { createSandboxLine, sandboxAddress, type SandboxLine } from './sandbox/sandbox-line.ts'
import { createTrunkLine, type TrunkLineSettings } from './trunk-line.ts'
import { bindAddressFor, parseTrunkUri, type Trunk } from './trunk-uri.ts'

interface TelephonySettings extends TrunkLineSettings {
  /** Parsed by `parseTrunkUri`; undefined: no trunk is configured. */
  readonly trunk: string | undefined
}

/** Both routes side by side; each has its own user agent, so that no packet of one can reach the other. */
export interface Telephony extends Service {
  readonly sandbox: SandboxLine
  /** Undefined: no trunk is configured. */
  readonly trunk: Line | undefined
}

/** The configured port belongs to the trunk if there is one. */
const anyPort = 0

/**
 * The sandbox carrier on loopback for sandbox organizations and, if configured, the trunk for live ones. Both use
 * exactly the same code. Throws `StartError` for an invalid trunk.
 */
export const createTelephony = (
  settings: TelephonySettings,
  logger: Logger,
  telemetry: Telemetry,
): Telephony => {
  const { trunk: uri, port } = settings
  const sandbox = createSandboxLine(uri === undefined ? port : anyPort, logger, telemetry)
  const trunk =
    uri === undefined ? undefined : createTrunkLine(readTrunk(uri), settings, logger, telemetry)
  return {
    sandbox,
    trunk,
    start: async () => {
      await Promise.all([sandbox.start(), trunk?.start()])
    },
    stop: async () => {
      await Promise.all([sandbox.stop(), trunk?.stop()])
    },
  }
}

/** The SIP address with the configured port. Throws `StartError` for an invalid trunk. */
export const sipBindAddress = ({ trunk }: Pick<TelephonySettings, 'trunk'>): string =>
  trunk === undefined ? sandboxAddress : bindAddressFor(readTrunk(trunk))

const readTrunk = (uri: string): Trunk => {
  try {
    return parseTrunkUri(uri)
  } catch (error) {
    throw new StartError(`OUTDIAL_SIP_TRUNK cannot be used: ${(error as Error).message}.`, {
      cause: error,
    })
  }
}
