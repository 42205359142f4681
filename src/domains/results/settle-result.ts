import type { Queryable } from '../../database/database.ts'
import { moveResult } from './result-store.ts'
import type { ExhaustedReason, ResultKind } from './result-states.ts'
import type { CallKey } from './transcript-store.ts'

/** Every attempt is used up. An operator may retry it. False if the result is not being produced. */
export const markResultExhausted = (
  db: Queryable,
  call: CallKey,
  kind: ResultKind,
  reason: ExhaustedReason,
): Promise<boolean> =>
  moveResult(db, call, kind, { status: 'exhausted', reason }, { newAttempts: 1 })

/** An operator's re-run: `exhausted` → `processing` (D7). False if the result is not exhausted. */
export const reopenResult = (db: Queryable, call: CallKey, kind: ResultKind): Promise<boolean> =>
  moveResult(
    db,
    call,
    kind,
    { status: 'processing', reason: kind === 'summary' ? 'generating' : 'awaiting_transcript' },
    { from: ['exhausted'] },
  )
