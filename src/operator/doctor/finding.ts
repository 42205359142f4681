/** What `outdial doctor` found out about one thing an installation needs. */
export interface Finding {
  readonly check:
    | 'database'
    | 'settings'
    | 'disk'
    | 'live'
    | 'dns'
    | 'trunk'
    | 'nat'
    | 'call'
    | 'engine'
    | 'clock'
    | 'ports'
    | 'downloads'
  readonly status: 'ok' | 'warning' | 'failed'
  /** One sentence; for what is not ok, with its remedy. */
  readonly message: string
}

export const ok = (check: Finding['check'], message: string): Finding => ({
  check,
  status: 'ok',
  message,
})

export const warning = (check: Finding['check'], message: string): Finding => ({
  check,
  status: 'warning',
  message,
})

export const failed = (check: Finding['check'], message: string): Finding => ({
  check,
  status: 'failed',
  message,
})

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
