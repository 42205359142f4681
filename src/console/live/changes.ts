import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Queryable } from '../../database/database.ts'
import { readMarksOfRuns, readRunMarks } from '../../domains/automations/run-marks.ts'
import { readBatchMarks, readMarksOfBatches } from '../../domains/batches/batch-marks.ts'
import { readCallMarks, readMarksOfCalls, type Mark } from '../../domains/calls/call-marks.ts'

export type Kind = 'call' | 'batch' | 'run'

/** Something of an organization is no longer as it was. It holds no word, name or number: every role may see it. */
export interface Change {
  readonly id: string
  readonly kind: Kind
  readonly target: string
  /** Whether no more than its words have changed. */
  readonly isOnlyWords: boolean
}

/** Changes that a browser may ask for again after it was away. */
const maxKept = 500

/** Things of any age that pages show: how many are watched besides the newest, and how long after they were read. */
const maxShown = 200
const shownMs = 600_000

/** The changes of one organization, from comparing what is there with what was there before. */
export const createChanges = (organizationId: OrganizationId) => {
  // A process that restarts counts anew: ids of another run are no position in this one.
  const run = Date.now().toString(36)
  let sequence = 0
  let kept: Change[] = []
  let known: ReadonlyMap<string, Mark> | undefined
  const shown = createShown()
  return {
    /** What is new since the last look; nothing at the first. */
    look: async (db: Queryable, nowMs: number): Promise<readonly Change[]> => {
      const lapsed = shown.lapse(nowMs)
      const seen = await readMarks(db, organizationId, shown.idsOf)
      const before = known
      known = seen
      if (!before) return []
      const gone = [...before.keys()].filter((key) => !seen.has(key) && !lapsed.has(key))
      const moved = [...seen].flatMap(([key, mark]) => (isSame(before.get(key), mark) ? [] : [key]))
      const changes = [...moved, ...gone].map((key): Change => {
        const [kind, target] = key.split(' ') as [Kind, string]
        const isOnlyWords = seen.get(key)?.mark === before.get(key)?.mark
        sequence += 1
        return { id: `${run}-${sequence}`, kind, target, isOnlyWords }
      })
      kept = [...kept, ...changes].slice(-maxKept)
      return changes
    },
    /** A page shows it: it is watched as the newest ones are. */
    show: (kind: Kind, target: string, nowMs: number): void =>
      shown.add(`${kind} ${target}`, nowMs),
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

const isSame = (before: Mark | undefined, { mark, turns }: Mark): boolean =>
  before?.mark === mark && (before.turns ?? 0) === (turns ?? 0)

const readMarks = async (
  db: Queryable,
  organizationId: OrganizationId,
  idsOf: (kind: Kind) => readonly string[],
): Promise<ReadonlyMap<string, Mark>> => {
  const marks = new Map<string, Mark>()
  const note = (kind: Kind, found: readonly Mark[]): void => {
    // A live call stands first, with its turns.
    for (const mark of found)
      if (!marks.has(`${kind} ${mark.id}`)) marks.set(`${kind} ${mark.id}`, mark)
  }
  note('call', await readCallMarks(db, organizationId))
  note('batch', await readBatchMarks(db, organizationId))
  note('run', await readRunMarks(db, organizationId))
  const ofShown = { call: readMarksOfCalls, batch: readMarksOfBatches, run: readMarksOfRuns }
  for (const kind of ['call', 'batch', 'run'] as const) {
    const ids = idsOf(kind)
    if (ids.length > 0) note(kind, await ofShown[kind](db, organizationId, ids))
  }
  return marks
}

/** What pages have shown lately, by kind and id; the longest unread goes first. */
const createShown = () => {
  const untilMs = new Map<string, number>()
  let lapsed = new Set<string>()
  const drop = (key: string): void => {
    untilMs.delete(key)
    lapsed.add(key)
  }
  return {
    add: (key: string, nowMs: number): void => {
      untilMs.delete(key)
      untilMs.set(key, nowMs + shownMs)
      const [oldest] = untilMs.keys()
      if (untilMs.size > maxShown && oldest !== undefined) drop(oldest)
    },
    /** Keys that are not watched any more since it was asked last: they have not gone by that. */
    lapse: (nowMs: number): ReadonlySet<string> => {
      for (const [key, until] of untilMs) if (until <= nowMs) drop(key)
      const told = lapsed
      lapsed = new Set()
      return told
    },
    idsOf: (kind: Kind): readonly string[] =>
      [...untilMs.keys()].flatMap((key) =>
        key.startsWith(`${kind} `) ? [key.slice(kind.length + 1)] : [],
      ),
  }
}
