import { formatDateTime } from '../../contract/date-time.ts'
import type { CallBackResult } from '../../contract/calls-back.ts'
import type { CallBackRecord } from './calls-back-store.ts'

/** A call back as commands and the dashboard show it. */
interface ShownCallBack {
  readonly id: string
  readonly at: string
  readonly trunk: string
  /** Null: withheld, or erased. */
  readonly phone_number: string | null
  readonly called_number: string
  readonly result: CallBackResult
  /** Null: it is not over, or its node died. */
  readonly sip_status: number | null
  readonly seconds: number | null
  readonly reason: string | null
}

export const callBackResource = (row: CallBackRecord): ShownCallBack => ({
  id: row.id,
  at: formatDateTime(row.at),
  trunk: row.trunk,
  phone_number: row.phone_number,
  called_number: row.called_number,
  result: row.result,
  sip_status: row.sip_status,
  seconds: row.seconds,
  reason: row.reason,
})
