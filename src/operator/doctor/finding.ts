/** The verdict of `outdial doctor` on one thing that an installation needs. */
export interface Finding {
  readonly check:
    | 'database'
    | 'settings'
    | 'disk'
    | 'live'
    | 'dns'
    | 'certificate'
    | 'trunk'
    | 'nat'
    | 'numbers'
    | 'call'
    | 'engine'
    | 'clock'
    | 'ports'
    | 'downloads'
    | 'doctor'
  readonly status: 'ok' | 'warning' | 'failed'
  /** One sentence; it ends with the remedy unless the status is `ok`. */
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
