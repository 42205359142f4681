/** Dates accepted in `Service-Version`, newest first (contract, "Versioning"). */
export const serviceVersions = ['2026-07-16'] as const

export type ServiceVersion = (typeof serviceVersions)[number]

/** The pinned version of a new organization, and the version of a response before the organization is known. */
export const latestVersion: ServiceVersion = serviceVersions[0]

/** `schema_version` of the summary and transcript documents; independent of the service version. */
export const resultSchemaVersion = '2026-07-28'

export const isServiceVersion = (text: string): text is ServiceVersion =>
  serviceVersions.some((version) => version === text)
