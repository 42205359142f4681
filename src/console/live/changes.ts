import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Queryable } from '../../database/database.ts'
import { readRunMarks } from '../../domains/automations/run-marks.ts'
import { readBatchMarks } from '../../domains/batches/batch-marks.ts'
import { readCallMarks, type Mark } from '../../domains/calls/call-marks.ts'

type Kind = 'call' | 'batch' | 'run'

/** Something of an organization is no longer as it was. It holds no word, name or number: every role may see it. */
export interface Change {
  readonly id: string
  readonly kind: Kind
  readonly target: string
}

/** Changes that a browser may ask for again after it was away. */
const maxKept = 500

/** The changes of one organization, from comparing what is there with what was there before. */
export const createChanges = (organizationId: OrganizationId) => {
  // A process that restarts counts anew: ids of another run are no position in this one.
  const run = Date.now().toString(36)
  let sequence = 0
  let kept: Change[] = []
  let known: ReadonlyMap<string, string> | undefined
  return {
    /** What is new since the last look; nothing at the first. */
    look: async (db: Queryable): Promise<readonly Change[]> => {
      const seen = await readMarks(db, organizationId)
      const before = known
      known = seen
      if (!before) return []
      const gone = [...before.keys()].filter((key) => !seen.has(key))
      const moved = [...seen].flatMap(([key, mark]) => (before.get(key) === mark ? [] : [key]))
      const changes = [...moved, ...gone].map((key): Change => {
        const [kind, target] = key.split(' ') as [Kind, string]
        sequence += 1
        return { id: `${run}-${sequence}`, kind, target }
      })
      kept = [...kept, ...changes].slice(-maxKept)
      return changes
    },
    /** The id of the newest change, to begin from. */
    position: (): string => `${run}-${sequence}`,
    /** What came after an id; undefined where that is not known any more, so that everything is to be asked again. */
    since: (id: string): readonly Change[] | undefined => {
      if (id === `${run}-${sequence}`) return []
      const at = kept.findIndex((change) => change.id === id)
      if (at >= 0) return kept.slice(at + 1)
      return id === `${run}-0` && sequence <= maxKept ? kept : undefined
    },
  }
}

const readMarks = async (
  db: Queryable,
  organizationId: OrganizationId,
): Promise<ReadonlyMap<string, string>> => {
  const marks = new Map<string, string>()
  const note = (kind: Kind, found: readonly Mark[]): void => {
    // A live call stands first, with its turns.
    for (const { id, mark } of found)
      if (!marks.has(`${kind} ${id}`)) marks.set(`${kind} ${id}`, mark)
  }
  note('call', await readCallMarks(db, organizationId))
  note('batch', await readBatchMarks(db, organizationId))
  note('run', await readRunMarks(db, organizationId))
  return marks
}
