import { StartError } from '../runtime/start-error.ts'
import { sandboxAddress } from './sandbox/sandbox-line.ts'
import { bindAddressFor, parseTrunkUri, type Trunk } from './trunk-uri.ts'

interface TrunkSetting {
  /** Parsed by `parseTrunkUri`; undefined: no trunk is configured. */
  readonly trunk: string | undefined
}

/** The SIP address with the configured port. Throws `StartError` for an invalid trunk. */
export const sipBindAddress = (settings: TrunkSetting): string => {
  const trunk = readEnvironmentTrunk(settings)
  return trunk === undefined ? sandboxAddress : bindAddressFor(trunk)
}

/** The trunk of OUTDIAL_SIP_TRUNK. Throws `StartError` for an invalid one. */
export const readEnvironmentTrunk = ({ trunk: uri }: TrunkSetting): Trunk | undefined => {
  if (uri === undefined) return undefined
  try {
    return parseTrunkUri(uri)
  } catch (error) {
    throw new StartError(`OUTDIAL_SIP_TRUNK cannot be used: ${(error as Error).message}.`, {
      cause: error,
    })
  }
}
