import type { SipTrace, SipTraceMessage } from '../../domains/calls/sip-trace-store.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Clock } from '../../runtime/time.ts'
import type { DialTrace, WireMessage } from '../../telephony/carrier.ts'

/** The SIP messages of one attempt, kept for `call trace`, `call explain` and the call's page. */
export interface TraceRecorder extends DialTrace {
  /** Stores what is new; never throws. */
  save(): Promise<void>
  /** Stores the rest, and sees no more. */
  close(): Promise<void>
}

/** Characters of the first messages, and of the last ones: a long call's end explains as much as its beginning. */
const maxFirst = 49_152
const maxLast = 16_384

interface TraceRecorderOptions {
  readonly save: (trace: SipTrace) => Promise<void>
  readonly clock: Clock
  readonly logger: Logger
}

export const createTraceRecorder = ({
  save,
  clock,
  logger,
}: TraceRecorderOptions): TraceRecorder => {
  const stop = new AbortController()
  const first: SipTraceMessage[] = []
  const last: SipTraceMessage[] = []
  let [firstLength, lastLength, omitted, unsaved] = [0, 0, 0, 0]
  let saving = Promise.resolve()

  const add = (message: WireMessage): void => {
    const entry = { at: clock.now().toISOString(), ...message }
    const { length } = entry.text
    unsaved += 1
    if (last.length === 0 && firstLength + length <= maxFirst) {
      first.push(entry)
      firstLength += length
      return
    }
    last.push(entry)
    lastLength += length
    while (lastLength > maxLast) {
      lastLength -= last.shift()?.text.length ?? 0
      omitted += 1
    }
  }
  const saveNew = async (): Promise<void> => {
    if (unsaved === 0) return
    unsaved = 0
    try {
      await save({ first: [...first], last: [...last], omitted })
    } catch (error) {
      logger.warn({ err: error }, 'the SIP messages of a call were not stored')
    }
  }
  const saveInOrder = (): Promise<void> => (saving = saving.then(saveNew))
  return {
    until: stop.signal,
    add,
    save: saveInOrder,
    close: () => {
      stop.abort()
      return saveInOrder()
    },
  }
}
