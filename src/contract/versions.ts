/** Dates accepted in `Service-Version`, newest first (contract, "Versioning"). */
export const serviceVersions = ['2026-07-16'] as const

export type ServiceVersion = (typeof serviceVersions)[number]

/** What a new organization is pinned to, and what a response says before an organization is known. */
export const latestVersion: ServiceVersion = serviceVersions[0]

/** `schema_version` of the summary and transcript documents; independent of the service version. */
export const resultSchemaVersion = '2026-07-28'

export const isServiceVersion = (text: string): text is ServiceVersion =>
  serviceVersions.some((version) => version === text)
