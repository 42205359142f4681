import { z } from 'zod'
import { agent } from '../agents.ts'
import { dateTime, integerParameter, opaqueId, uuid } from '../fields.ts'

/** An agent file as operators write it; the domain checks it. */
export const agentFile = z.record(z.string(), z.unknown())
export const agentPath = z.strictObject({ agent_id: opaqueId })
export const versionPath = agentPath.extend({ version: opaqueId })

/** One that may call by default, as the API has them; `current` also those that were never published. */
export const agentListStates = ['eligible', 'current', 'archived'] as const
export const agentListFilters = z.strictObject({ state: z.enum(agentListStates).optional() })

export const listedAgents = z.strictObject({
  data: z.array(
    agent.extend({
      /** The published one; 0: none. */
      version: z.int(),
      /** When its draft was saved. */
      draft_saved_at: dateTime.optional(),
      archived_at: dateTime.optional(),
    }),
  ),
  /** Whether older ones were left out. */
  truncated: z.boolean(),
})

const problem = z.strictObject({ path: z.string(), message: z.string() })

const draft = z.strictObject({
  file: agentFile,
  /** Named by the next save, so that none overwrites what it has not seen. */
  revision: z.int(),
  /** The version that was published when the draft was begun; 0: none. */
  based_on: z.int(),
  saved_at: dateTime,
})

/** With the definition that new calls get, without credentials; empty where it was never published. */
export const shownAgent = agent.extend({
  version: z.int(),
  archived_at: dateTime.optional(),
  definition: agentFile,
  draft: draft.optional(),
})

const maxVersion = 2_147_483_647
const seenNumber = z.int().min(0).max(maxVersion)

export const draftInput = z.strictObject({
  file: agentFile,
  /** Of the draft that was changed; 0: there was none. */
  revision: seenNumber,
  /** The published version that was seen; 0: none. */
  version: seenNumber,
})

/** What is wrong with it does not keep it from being saved. */
export const savedDraft = z.strictObject({
  agent_id: opaqueId,
  revision: z.int(),
  based_on: z.int(),
  saved_at: dateTime,
  problems: z.array(problem),
})

export const draftSeen = z.strictObject({ revision: integerParameter(0, maxVersion) })

/** A publication may name what it was made from, so that it is refused over another one. */
export const publicationSeen = z.strictObject({
  base_version: integerParameter(0, maxVersion).optional(),
  draft_revision: integerParameter(0, maxVersion).optional(),
})

export const rollBackSeen = z.strictObject({
  base_version: integerParameter(0, maxVersion).optional(),
})

export const publishedAgent = agent.extend({ version: z.int() })

/** More than a person's file has characters; the body of a request has 1 MiB. */
const maxSourceLength = 900_000

/** One of both: the members of a form, or the text of a file. */
export const agentCheckInput = z
  .strictObject({
    file: agentFile.optional(),
    source: z.string().max(maxSourceLength).optional(),
    /** Whose hidden values are kept. */
    agent_id: uuid.optional(),
    /** For whom the texts are filled; without one, for a person of the sandbox. */
    contact_id: uuid.optional(),
  })
  .refine(({ file, source }) => (file === undefined) !== (source === undefined), {
    path: ['file'],
    message: 'required: is required, or else source',
  })

export const agentCheck = z.strictObject({
  /** What the source says; absent where it is no object. */
  file: agentFile.optional(),
  problems: z.array(problem),
  /** Whether further problems were left out. */
  truncated: z.boolean(),
  texts: z.strictObject({
    greeting: z.string().optional(),
    prompt: z.string().optional(),
    voicemail_message: z.string().optional(),
  }),
})

export const versionListFilters = z.strictObject({
  before: integerParameter(1, maxVersion).optional(),
})

export const agentVersions = z.strictObject({
  data: z.array(
    z.strictObject({
      version: z.int(),
      name: z.string(),
      published_at: dateTime,
      /** The older version that it repeats, after a roll-back. */
      restored_version: z.int().optional(),
    }),
  ),
  /** Whether there are older ones. */
  has_more: z.boolean(),
})

export const agentVersion = z.strictObject({
  version: z.int(),
  definition: agentFile,
})

/** Each side is the number of a version, or `draft`. */
const side = z.union([z.literal('draft'), z.string().regex(/^[1-9][0-9]{0,9}$/)])
export const differencesInput = z.strictObject({ before: side, after: side })

export const agentDifferenceList = z.strictObject({
  data: z.array(
    z.strictObject({
      path: z.string(),
      /** Absent where this side lacks the member. */
      before: z.unknown().optional(),
      after: z.unknown().optional(),
      /** The values differ, and both are hidden. */
      is_hidden: z.boolean(),
    }),
  ),
})
