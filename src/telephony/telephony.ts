import type { Logger } from '../runtime/logger.ts'
import type { Service } from '../runtime/service.ts'
import { StartError } from '../runtime/start-error.ts'
import type { Line } from './line.ts'
import { createSandboxLine, sandboxAddress, type SandboxLine } from './sandbox/sandbox-line.ts'
import { createTrunkLine, type TrunkLineSettings } from './trunk-line.ts'
import { bindAddressFor, parseTrunkUri, type Trunk } from './trunk-uri.ts'

export interface TelephonySettings extends TrunkLineSettings {
  /** As `parseTrunkUri` reads it; undefined: no trunk is configured. */
  readonly trunk: string | undefined
}

/** Both ways beside each other; each has a user agent of its own, so that no packet of one can reach the other. */
export interface Telephony extends Service {
  readonly sandbox: SandboxLine
  /** Undefined: no trunk is configured. */
  readonly trunk: Line | undefined
}

/** The port of the settings is the trunk's where there is one. */
const anyPort = 0

/**
 * The sandbox carrier on loopback for sandbox organizations and, where one is configured, the trunk for live ones. Both
 * are reached by the very same code. Throws `StartError` for a trunk that cannot be read.
 */
export const createTelephony = (settings: TelephonySettings, logger: Logger): Telephony => {
  const { trunk: uri, port } = settings
  const sandbox = createSandboxLine(uri === undefined ? port : anyPort, logger)
  const trunk = uri === undefined ? undefined : createTrunkLine(readTrunk(uri), settings, logger)
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

/** Where SIP listens on the port of the settings. Throws `StartError` for a trunk that cannot be read. */
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
