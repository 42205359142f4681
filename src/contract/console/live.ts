import { z } from 'zod'
import { dateTime, opaqueId, uuid } from '../fields.ts'

/** A call that rings or is held now. */
const liveCall = z.strictObject({
  id: uuid,
  status: z.enum(['dialing', 'in_progress']),
  contact_id: opaqueId,
  agent_id: opaqueId,
  contact_name: z.string().optional(),
  phone_number: z.string().optional(),
  agent_name: z.string().optional(),
  dialing_at: dateTime.optional(),
  connected_at: dateTime.optional(),
  /** Whether it was asked to end. */
  is_ending: z.boolean(),
  /** Whether the process that gives this answer carries it: only there it can be listened to. */
  is_here: z.boolean(),
  /** For those who administer the installation. */
  node: z.string().optional(),
  /** What was said last. */
  last: z.strictObject({ sequence: z.int(), speaker: z.string(), text: z.string() }).optional(),
})

export const liveCallList = z.strictObject({
  data: z.array(liveCall),
  /** Whether there are more than are listed. */
  is_cut: z.boolean(),
})

/** For `GET /console/audio?ticket=`: good once, for 30 s, for the session that asked. */
export const audioTicket = z.strictObject({ ticket: z.string() })

export const talkInput = z.strictObject({
  version: z.enum(['draft', 'published']),
  /** Whom the agent takes the browser for; by default a sample. */
  contact_id: opaqueId.optional(),
})
