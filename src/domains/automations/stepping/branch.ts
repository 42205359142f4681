import type { BranchableField, BranchStep, When } from '../definition.ts'
import type { LastCall } from './run-facts.ts'

interface BranchFacts {
  readonly last: LastCall
  /** Unset fields, and those of a deleted contact, are "". */
  readonly field: (name: BranchableField) => string
}

/** The step a branch leads to, and its case: the first that matches, else `otherwise` (D6). */
export const chooseCase = (
  { cases, otherwise }: BranchStep,
  facts: BranchFacts,
): { readonly to: string; readonly reason: string } => {
  const at = cases.findIndex(({ when }) => matches(when, facts))
  const chosen = cases[at]
  return chosen
    ? { to: chosen.next, reason: `Case ${at + 1} matches: ${describe(chosen.when, facts)}.` }
    : { to: otherwise, reason: `No case matches (${describeLast(facts.last)}).` }
}

/** All members must match; each lists its allowed values. A call without an outcome matches none. */
const matches = (when: When, facts: BranchFacts): boolean =>
  Object.entries<readonly string[] | undefined>(when).every(([name, allowed]) => {
    const value = valueOf(name, facts)
    return value !== null && (allowed?.includes(value) ?? true)
  })

const contactPrefix = 'contact.'

const valueOf = (name: string, { last, field }: BranchFacts): string | null => {
  if (name === 'outcome') return last.outcome
  if (name === 'answer_status') return last.answerStatus
  return field(name.slice(contactPrefix.length) as BranchableField)
}

// The contact's own values are omitted, because reasons are shown and stored.
const describe = (when: When, facts: BranchFacts): string =>
  Object.keys(when)
    .map((name) =>
      name.startsWith(contactPrefix) ? name : `${name} is ${valueOf(name, facts) ?? 'unknown'}`,
    )
    .join(', ')

const describeLast = ({ answerStatus, outcome }: LastCall): string =>
  answerStatus === null
    ? 'no call has ended yet'
    : `answer_status is ${answerStatus}, outcome is ${outcome ?? 'not known'}`
