import type { ExplanationReason } from '../../contract/explanations.ts'
import type { OwnWaitReason } from './explain-store.ts'
import { lackSentences } from './lack-sentences.ts'

/** What a call’s own reason to wait says, where nothing else is known of it; congestion has `explain-congestion.ts`. */
export const ownWaits = {
  attempts_per_day: {
    code: 'attempts_per_day',
    message: 'The number was dialled as often as the policy allows on one day.',
  },
  not_sent: {
    code: 'not_before',
    message: 'Its last attempt could not be sent; it is dialled again shortly.',
  },
  no_engine: { code: 'no_engine', message: lackSentences.no_engine },
  number_in_use: {
    code: 'number_in_use',
    message: 'Another call to this number is live; this one goes on when that one has ended.',
  },
  trunk_down: {
    code: 'trunk_down',
    message: 'The trunk could not be used; the call is dialled once it can.',
  },
  no_trunk: {
    code: 'no_trunk',
    message:
      'No trunk serves its organization and the country of its number; it is dialled once one does.',
  },
  no_caller_id: { code: 'no_caller_id', message: lackSentences.no_caller_id },
  caller_ids_exhausted: {
    code: 'caller_ids_exhausted',
    message:
      'The numbers that it may show have made the calls that they may make on this day; it is dialled on the next day, or once there is another number.',
  },
  caller_ids_resting: {
    code: 'caller_ids_resting',
    message: 'The numbers that it may show all rest; it is dialled once one is in use again.',
  },
  trunk_full: {
    code: 'capacity',
    message: 'The trunks that serve it have no free channel now.',
  },
} as const satisfies Record<Exclude<OwnWaitReason, 'carrier_congestion'>, ExplanationReason>
