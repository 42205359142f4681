import type { SandboxReport } from './call-journal.ts'

/** The messages between the main thread and the sandbox carrier's thread. */
export interface SandboxWorkerData {
  readonly port: number
  readonly callerPort: number | undefined
  readonly rtpPortRange: { readonly min: number; readonly max: number } | undefined
}

export type ToSandboxWorker = { readonly type: 'report' } | { readonly type: 'stop' }

export type FromSandboxWorker =
  | { readonly type: 'ready'; readonly port: number }
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'report'; readonly report: SandboxReport }
  | {
      readonly type: 'log'
      readonly level: 'debug' | 'info' | 'warn' | 'error'
      readonly fields: object
      readonly message: string
    }
