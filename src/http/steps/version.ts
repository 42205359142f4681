import { ApiError } from '../../contract/api-error.ts'
import { isServiceVersion, serviceVersions, type ServiceVersion } from '../../contract/versions.ts'
import { soleHeader, type RequestHead } from '../connections/request-head.ts'

/**
 * The version to apply: the header's, else the organization's. Throws 400 `unsupported_version` for anything but an
 * exact supported date: empty, malformed or repeated included (D14).
 */
export const readVersion = (
  request: RequestHead,
  organizationDefault: ServiceVersion,
): ServiceVersion => {
  const given = soleHeader(request, 'service-version')
  if (given === undefined) return organizationDefault
  if (given !== null && isServiceVersion(given)) return given
  throw new ApiError(
    'unsupported_version',
    `Service-Version must be one of: ${serviceVersions.join(', ')}.`,
    { supported_versions: serviceVersions },
  )
}
